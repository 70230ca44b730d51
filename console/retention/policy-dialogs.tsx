import { useState } from 'preact/hooks';
import { Field } from '../parts/fields.js';
import { Failure, Loading } from '../parts/states.js';
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

/** Before a policy deletes: what a run would delete now, and its name typed. */
export function PreviewedDialog({ name, ...props }: PreviewedDialogProps) {
  const t = text.retention;
  const [typed, setTyped] = useState('');
  const { value, error, reload } = useLoad(name, (signal) => previewPolicy(name, signal));
  return (
    <SureDialog {...props} isReady={value !== undefined && typed.trim() === name}>
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading />}
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
