import { useRef, useState } from 'preact/hooks';
import { Card } from '../parts/card.js';
import { Download } from '../parts/button.js';
import { shownJson } from '../parts/json-text.js';
import { Unsaved } from '../parts/page.js';
import { text } from '../strings.js';
import { useDraft } from '../shared/drafts.js';
import { useAction } from '../shared/hooks.js';
import { errorsOf, jsonError } from '../editor/errors.js';
import { LINES_BEFORE_SCHEMA, writeModel } from './model-write.js';
import {
  addressIn,
  readModel,
  type Compatibility,
  type ModelPartProps,
  type ModelKey,
} from './models-api.js';
import { toReference } from './routes.js';
import { SavePanel } from './save-panel.js';
import { JsonEditor } from '../editor/json-editor.js';
import type { Position } from '../editor/errors.js';
import { useDryRun } from './use-dry-run.js';

/** A schema that was typed but not saved. */
export interface SchemaDraft {
  readonly text: string;
  /** The ETag of the schema that was edited. */
  readonly etag: string;
}

/** Returns the name of the draft of a model's schema. */
export function draftName({ domain, name }: ModelKey): string {
  return `${domain}/${name}`;
}

/** The schema of a model, to read and edit. The effect of saving is shown beside it, before it is saved. */
export function ModelSchema({ read: { value: model, etag }, onChanged }: ModelPartProps) {
  const t = text.models;
  const stored = shownJson(model.schema);
  const name = draftName(model);
  // The text, and the ETag of the version that it is based on: saving never replaces a newer version.
  const draft = useDraft<SchemaDraft>(name, () => ({ text: stored, etag }), etag);
  const { text: typed, etag: base } = draft.form;
  const { isChanged } = draft;
  const latest = useRef(typed);
  latest.current = typed;
  const [compatibility, setCompatibility] = useState<Compatibility | ''>('');
  const [place, setPlace] = useState<Position>();
  const [saved, setSaved] = useState('');
  const { isBusy, error, run, clear } = useAction();
  const syntaxError = jsonError(typed);
  const settings = compatibility === '' ? undefined : { compatibility };
  const write = { schemaText: typed, settings };
  const isWritable = isChanged && syntaxError === undefined;
  const { dryRun, retry } = useDryRun(model, isWritable ? write : undefined, { etag: base });

  const type = (value: string) => {
    draft.change({ text: value });
    clear();
    setSaved('');
  };
  const discard = () => {
    draft.discard();
    setCompatibility('');
    clear();
  };
  const save = async () => {
    const { value, etag: now } = await writeModel(model, write, { etag: base });
    setCompatibility('');
    setSaved(t.savedAs(value.version));
    // If the user kept typing in the meantime, that text is now based on the saved version.
    if (latest.current !== typed) draft.change({ text: latest.current, etag: now });
    else if (now === base) draft.discard();
    else {
      // Until the page has read the saved version, what is typed is based on it all the same.
      draft.change({ etag: now });
      draft.forget();
    }
    onChanged();
  };
  /** Keeps the text, and bases it on the current version: it is compared with that version, and replaces it when saved. */
  const goOn = async () => {
    draft.change({ etag: (await readModel(model)).etag });
    onChanged();
  };
  const errors = dryRun.isCurrent ? errorsOf(dryRun.error, '/schema', LINES_BEFORE_SCHEMA) : [];
  return (
    <div class="columns editing">
      <Card
        id="schema"
        title={t.schema}
        tools={
          <>
            {isChanged && <Unsaved onDiscard={discard} />}
            <span class="quiet" role="status">
              {saved}
            </span>
            <Download href={addressIn(model, ['files', 'schema.json'])} name="schema.json" />
          </>
        }
      >
        <JsonEditor label={t.schema} value={typed} onInput={type} errors={errors} place={place} />
        {model.references.length > 0 && (
          <p class="quiet others">
            {t.references.named}{' '}
            {model.references.map((uri, index) => (
              <span key={uri}>
                {index > 0 && ', '}
                <a href={toReference(uri)}>{uri}</a>
              </span>
            ))}
          </p>
        )}
      </Card>
      <SavePanel
        dryRun={dryRun}
        blocked={isChanged ? syntaxError && t.notJson(syntaxError) : t.unchanged}
        isSaving={isBusy}
        error={error}
        onSave={() => run(save)}
        onRetry={retry}
        onConflict={() => run(goOn)}
        compatibility={
          isChanged
            ? { now: model.compatibility, chosen: compatibility, onChoose: setCompatibility }
            : undefined
        }
        onPosition={(pointer) => setPlace({ pointer })}
      />
    </div>
  );
}
