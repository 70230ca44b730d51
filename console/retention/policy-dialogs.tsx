import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/fields.js';
import { Failure, Loading } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { previewPolicy } from './policies-api.js';

interface SureDialogProps {
  readonly title: string;
  readonly what: string;
  readonly go: string;
  readonly onClose: () => void;
  readonly onSure: () => Promise<unknown>;
  readonly cancel?: string;
  /** It may be done; else the button waits. @default true */
  readonly isReady?: boolean;
  readonly children?: ComponentChildren;
}

/** Says what will be done, and does it when that is wanted. */
export function SureDialog({ title, what, go, onClose, onSure, isReady = true, ...props }: SureDialogProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const act = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      await onSure();
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isBusy) void act();
        }}
      >
        <p>{what}</p>
        {props.children}
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <button type="submit" class="danger" disabled={!isReady || isBusy}>
            {go}
          </button>
          <button type="button" onClick={onClose}>
            {props.cancel ?? text.retention.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface PreviewedDialogProps extends Pick<
  SureDialogProps,
  'title' | 'what' | 'go' | 'onClose' | 'onSure' | 'cancel'
> {
  readonly name: string;
}

/** Before a policy deletes: what a run would delete now, and its name typed. */
export function PreviewedDialog({ name, ...props }: PreviewedDialogProps) {
  const t = text.retention;
  const [typed, setTyped] = useState('');
  const { value, error, reload } = useLoad(name, (signal) => previewPolicy(name, signal));
  return (
    <SureDialog {...props} isReady={value !== undefined && typed.trim() === name}>
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && <p class="hint-box">{t.enforceNow(value.matched)}</p>}
      <Field label={t.enforceType(name)} value={typed} onInput={setTyped} isWide />
    </SureDialog>
  );
}
