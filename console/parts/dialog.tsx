import type { ComponentChildren } from 'preact';
import { useState, useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.js';
import { isConflict } from '../api/client.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { Failure } from './states.js';
import { EnvironmentInfo } from './environment.js';
import { Form } from './fields.js';

export interface ConfirmDialogProps {
  readonly title: string;
  readonly message: string;
  readonly confirm: string;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<unknown>;
  /** Called if the resource was changed elsewhere in the meantime, and nothing was done: it has to be read and shown again. */
  readonly onConflict?: () => void;
  readonly cancel?: string;
  /** The tenant that the action is about, if any. */
  readonly tenant?: string | undefined;
  /** Whether the action is allowed; otherwise the button is disabled. @default true */
  readonly isReady?: boolean;
  readonly children?: ComponentChildren;
}

/** Says what will be done, and does it if the user confirms. */
export function ConfirmDialog({
  title,
  message,
  confirm,
  onClose,
  onConfirm,
  isReady = true,
  ...props
}: ConfirmDialogProps) {
  const { isBusy, error, run } = useAction();
  // Closing the dialog would not stop what is under way, so it stays open until that has ended.
  const close = () => isBusy || onClose();
  const act = async () => {
    try {
      await onConfirm();
    } catch (failure) {
      if (isConflict(failure)) props.onConflict?.();
      throw failure;
    }
  };
  return (
    <Dialog title={title} onClose={close}>
      <Form method="dialog" onSubmit={() => isReady && run(act)}>
        <EnvironmentInfo tenant={props.tenant} />
        <p>{message}</p>
        {props.children}
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <Button
            type="submit"
            class="danger"
            disabled={!isReady}
            aria-disabled={isBusy}
            label={isBusy ? text.state.working : confirm}
          />
          <Button aria-disabled={isBusy} onClick={close} label={props.cancel ?? text.cancel} />
        </div>
      </Form>
    </Dialog>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, 'onClose'> {
  /** Label of the button. */
  readonly label: string;
  /** Class of the button. */
  readonly class?: 'last' | 'small';
}

/** A button that asks for confirmation. */
export function ConfirmButton({ label, class: className, onConfirm, ...question }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  const close = () => setIsAsking(false);
  return (
    <>
      <Button class={className} onClick={() => setIsAsking(true)} label={label} />
      {isAsking && (
        <ConfirmDialog
          {...question}
          onClose={close}
          onConfirm={async () => {
            await onConfirm();
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
