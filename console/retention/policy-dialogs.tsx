import { useState } from 'preact/hooks';
import { Field } from '../parts/fields.js';
import { Pending } from '../parts/states.js';
import { SureDialog, type SureDialogProps } from '../parts/sure-dialog.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { previewPolicy } from './policies-api.js';
import { unitOfPreview } from './policy-form.js';

interface PreviewedDialogProps extends Pick<
  SureDialogProps,
  'title' | 'what' | 'go' | 'onClose' | 'onSure' | 'onOvertaken' | 'cancel' | 'tenant'
> {
  readonly name: string;
}

/** Confirms that a policy may delete: shows what a run would delete now, and asks for the policy's name. */
export function PreviewedDialog({ name, ...props }: PreviewedDialogProps) {
  const t = text.retention;
  const [typed, setTyped] = useState('');
  const { value, error, reload } = useLoad(name, (signal) => previewPolicy(name, signal));
  return (
    <SureDialog {...props} isReady={value !== undefined && typed.trim() === name}>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && (
        <p class="hint-box">
          {value.reportAbove === undefined
            ? t.enforceNow(value.matched, unitOfPreview(value), value.atLeast === true)
            : t.heldBack(value.matched, unitOfPreview(value), value.reportAbove)}
        </p>
      )}
      <Field label={t.enforceType(name)} value={typed} onInput={setTyped} isWide />
    </SureDialog>
  );
}
