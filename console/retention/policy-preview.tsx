import type { RetentionPreview, RetentionSettings } from '../api/client.js';
import { SampleList } from '../entities/sample-list.js';
import { count, time } from '../shared/format.js';
import { text } from '../strings.js';
import { unitOfPreview } from './policy-form.js';

/** What a policy would delete now. @param settings say where the data is */
export function Previewed({
  preview,
  settings,
}: {
  readonly preview: RetentionPreview;
  readonly settings: Pick<RetentionSettings, 'target' | 'tenant' | 'link'>;
}) {
  const t = text.retention;
  const { matched, atLeast, cutoff, query, sample } = preview;
  return (
    <>
      <p class="matched">
        {atLeast === true && <span>{text.preview.atLeast} </span>}
        <strong>{count(matched)}</strong> {t.previewed(matched, unitOfPreview(preview)).replace(/^\S+ /, '')}
      </p>
      <p>
        {t.cutoff}: {time(cutoff)}
      </p>
      <pre class="request" tabIndex={0} aria-label={t.fields.query}>
        {query}
      </pre>
      {sample.length > 0 && <SampleList ids={sample} place={settings} label={text.preview.sampleLabel} />}
    </>
  );
}
