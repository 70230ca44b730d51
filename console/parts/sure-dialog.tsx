import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isOvertaken } from '../api/client.js';
import { useWork } from '../shared/use-work.js';
import { text } from '../strings.js';
import { Dialog } from './dialog.js';
import { Failure } from './states.js';
import { Where } from './where.js';

export interface SureDialogProps {
  readonly title: string;
  readonly what: string;
  readonly go: string;
  /** What the button says while it is done. @default the same */
  readonly going?: string;
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
  const { isBusy, error, run } = useWork();
  const act = async () => {
    try {
      await onSure();
    } catch (failure) {
      if (isOvertaken(failure)) props.onOvertaken?.();
      throw failure;
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) run(act);
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
            {isBusy ? (props.going ?? go) : go}
          </button>
          <button type="button" onClick={onClose}>
            {props.cancel ?? text.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface SureButtonProps extends Omit<SureDialogProps, 'onClose'> {
  /** What the button says. */
  readonly label: string;
  readonly look?: 'last';
}

/** A button that asks before it does something. */
export function SureButton({ label, look, onSure, ...question }: SureButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  const close = () => setIsAsking(false);
  return (
    <>
      <button type="button" class={look} onClick={() => setIsAsking(true)}>
        {label}
      </button>
      {isAsking && (
        <SureDialog
          {...question}
          onClose={close}
          onSure={async () => {
            await onSure();
            close();
          }}
        />
      )}
    </>
  );
}
