import type { RetentionPreview, RetentionSettings } from '../api/client.js';
import { SampleList } from '../entities/sample-list.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { count, time } from '../shared/format.js';
import { text } from '../strings.js';
import { unitOfPreview } from './policy-form.js';
import { useState } from 'preact/hooks';
import { Field } from '../parts/fields.js';
import { Pending } from '../parts/states.js';
import { ConfirmDialog, type ConfirmDialogProps } from '../parts/dialog.js';
import { useLoad } from '../shared/hooks.js';
import { previewPolicy } from './policies-api.js';

/** How much a policy would delete now. */
export function PolicyPreview({ preview }: { readonly preview: RetentionPreview }) {
  const t = text.retention;
  const { matched, atLeast, cutoff, query } = preview;
  return (
    <>
      <p class="matched">
        {atLeast === true && <span>{text.preview.atLeast} </span>}
        <strong>{count(matched)}</strong> {t.previewed(matched, unitOfPreview(preview)).replace(/^\S+ /, '')}
      </p>
      <p>
        {t.cutoff}: {time(cutoff)}
      </p>
      <pre class="request" tabIndex={0} aria-label={text.labels.query}>
        {readableQuery(query)}
      </pre>
    </>
  );
}

/** Some of what a policy would delete now. @param settings say where the data is */
export function PolicySample({
  preview: { sample },
  settings,
}: {
  readonly preview: RetentionPreview;
  readonly settings: Pick<RetentionSettings, 'target' | 'tenant' | 'link'>;
}) {
  return sample.length > 0 ? <SampleList ids={sample} place={settings} label={text.labels.sample} /> : null;
}

interface PreviewDialogProps extends Pick<
  ConfirmDialogProps,
  'title' | 'message' | 'confirm' | 'onClose' | 'onConfirm' | 'onConflict' | 'cancel' | 'tenant'
> {
  readonly name: string;
}

/** Confirms that a policy may delete: shows what a run would delete now, and asks for the policy's name. */
export function PreviewDialog({ name, ...props }: PreviewDialogProps) {
  const t = text.retention;
  const [typed, setTyped] = useState('');
  const { value, error, reload } = useLoad(name, (signal) => previewPolicy(name, signal));
  return (
    <ConfirmDialog {...props} isReady={value !== undefined && typed.trim() === name}>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && (
        <p class="hint-box">
          {value.reportAbove === undefined
            ? t.enforceNow(value.matched, unitOfPreview(value), value.atLeast === true)
            : t.heldBack(value.matched, unitOfPreview(value), value.reportAbove)}
        </p>
      )}
      <Field label={t.enforceType(name)} value={typed} onInput={setTyped} isWide />
    </ConfirmDialog>
  );
}
