import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { isOvertaken } from '../api/client.js';
import { text } from '../strings.js';
import { Dialog } from './dialog.js';
import { Failure } from './states.js';
import { Where } from './where.js';

export interface SureDialogProps {
  readonly title: string;
  readonly what: string;
  readonly go: string;
  readonly onClose: () => void;
  readonly onSure: () => Promise<unknown>;
  /** What it is about was changed elsewhere meanwhile, and nothing was done: it is to be read, and shown, again. */
  readonly onOvertaken?: () => void;
  readonly cancel?: string;
  /** In which it is done, if in one. */
  readonly tenant?: string | undefined;
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
      if (isOvertaken(failure)) props.onOvertaken?.();
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
        <Where tenant={props.tenant} />
        <p>{what}</p>
        {props.children}
        {error !== undefined && (
          <Failure error={error} title={isOvertaken(error) ? text.state.overtaken : undefined} />
        )}
        <div class="actions">
          <button type="submit" class="danger" disabled={!isReady || isBusy}>
            {go}
          </button>
          <button type="button" onClick={onClose}>
            {props.cancel ?? text.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
