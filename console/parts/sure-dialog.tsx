import type { ComponentChildren } from 'preact';
import { useState, useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.js';
import { isOvertaken } from '../api/client.js';
import { useWork } from '../shared/hooks.js';
import { text } from '../strings.js';
import { Failure } from './states.js';
import { Where } from './where.js';

export interface SureDialogProps {
  readonly title: string;
  readonly what: string;
  readonly go: string;
  readonly onClose: () => void;
  readonly onSure: () => Promise<unknown>;
  /** Called if the resource was changed elsewhere in the meantime, and nothing was done: it has to be read and shown again. */
  readonly onOvertaken?: () => void;
  readonly cancel?: string;
  /** The tenant that the action is about, if any. */
  readonly tenant?: string | undefined;
  /** Whether the action is allowed; otherwise the button is disabled. @default true */
  readonly isReady?: boolean;
  readonly children?: ComponentChildren;
}

/** Says what will be done, and does it if the user confirms. */
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
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <Button type="submit" class="danger" disabled={!isReady || isBusy} label={go} />
          <Button onClick={onClose} label={props.cancel ?? text.cancel} />
        </div>
      </form>
    </Dialog>
  );
}

interface SureButtonProps extends Omit<SureDialogProps, 'onClose'> {
  /** Label of the button. */
  readonly label: string;
  /** Class of the button. */
  readonly look?: 'last' | 'small';
}

/** A button that asks for confirmation. */
export function SureButton({ label, look, onSure, ...question }: SureButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  const close = () => setIsAsking(false);
  return (
    <>
      <Button class={look} onClick={() => setIsAsking(true)} label={label} />
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

/** A native modal dialog: it traps the focus, closes with Escape, and restores the focus. */
export function Dialog({
  title,
  onClose,
  isWide = false,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      class={isWide ? 'wide' : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
