import { useEffect, useRef, useState } from 'preact/hooks';
import type { WithETag } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Download } from '../parts/download.js';
import { shownJson } from '../parts/json-text.js';
import { Split } from '../parts/split.js';
import { Unsaved } from '../parts/unsaved.js';
import { text } from '../strings.js';
import { draftOf, keepDraft } from '../shared/drafts.js';
import { faultsOf, jsonFault } from '../editor/faults.js';
import { LINES_BEFORE_SCHEMA, writeModel } from './model-write.js';
import { addressIn, readModel, type Compatibility, type Model, type ModelKey } from './models-api.js';
import { toReference } from './places.js';
import { SavePanel } from './save-panel.js';
import { JsonEditor, type Place } from '../editor/json-editor.js';
import { useTrial } from './use-trial.js';

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
export function ModelSchema({
  read: { value: model, etag },
  onChanged,
}: {
  readonly read: WithETag<Model>;
  readonly onChanged: () => void;
}) {
  const t = text.models;
  const stored = shownJson(model.schema);
  const name = draftName(model);
  // The unsaved text, and the ETag it is based on: saving never replaces a newer version.
  const [draft, setDraft] = useState(() => draftOf(name) as SchemaDraft | undefined);
  const [compatibility, setCompatibility] = useState<Compatibility | ''>('');
  const [place, setPlace] = useState<Place>();
  const [saved, setSaved] = useState('');
  const [error, setError] = useState<unknown>();
  const [isSaving, setIsSaving] = useState(false);
  // The text was saved but has not been read again yet. Until then, the typed text is shown.
  const [isSettling, setIsSettling] = useState(false);
  useEffect(() => {
    if (isSettling) setDraft(undefined);
    setIsSettling(false);
  }, [etag]);

  const typed = draft?.text ?? stored;
  const latest = useRef(typed);
  latest.current = typed;
  const base = draft?.etag ?? etag;
  const isChanged = !isSettling && (typed !== stored || base !== etag);
  const unreadable = jsonFault(typed);
  const settings = compatibility === '' ? undefined : { compatibility };
  const write = { schemaText: typed, settings };
  const isWritable = isChanged && unreadable === undefined;
  const { trial, again } = useTrial(model, isWritable ? write : undefined, { etag: base });

  const keep = (value: string, from = base) => {
    const next = value === stored && from === etag ? undefined : { text: value, etag: from };
    keepDraft(name, next);
    setDraft(next);
    setIsSettling(false);
    setError(undefined);
    setSaved('');
  };
  const forget = () => {
    keep(stored, etag);
    setCompatibility('');
  };
  const save = async () => {
    setIsSaving(true);
    setError(undefined);
    try {
      const { value, etag: now } = await writeModel(model, write, { etag: base });
      keepDraft(name, undefined);
      setCompatibility('');
      setSaved(t.savedAs(value.version));
      // If the user kept typing in the meantime, that text is now based on the saved version.
      if (latest.current !== typed) keep(latest.current, now);
      else if (now === base) setDraft(undefined);
      else {
        setDraft({ text: typed, etag: now });
        setIsSettling(true);
      }
      onChanged();
    } catch (failure) {
      setError(failure);
    }
    setIsSaving(false);
  };
  /** Keeps the text, and bases it on the current version: it is compared with that version, and replaces it when saved. */
  const goOn = async () => {
    try {
      keep(typed, (await readModel(model)).etag);
      onChanged();
    } catch (failure) {
      setError(failure);
    }
  };
  const faults = trial.isCurrent ? faultsOf(trial.error, '/schema', LINES_BEFORE_SCHEMA) : [];
  return (
    <Split>
      <Card
        id="schema"
        title={t.schema}
        tools={
          <>
            {isChanged && <Unsaved onDiscard={forget} />}
            <span class="quiet" role="status">
              {saved}
            </span>
            <Download href={addressIn(model, ['files', 'schema.json'])} name="schema.json" />
          </>
        }
      >
        <JsonEditor label={t.schema} value={typed} onInput={keep} faults={faults} place={place} />
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
        trial={trial}
        wait={isChanged ? unreadable && t.notJson(unreadable) : t.unchanged}
        isSaving={isSaving}
        error={error}
        onSave={() => void save()}
        onAgain={again}
        onOvertaken={() => void goOn()}
        compatibility={
          isChanged
            ? { now: model.compatibility, chosen: compatibility, onChoose: setCompatibility }
            : undefined
        }
        onPlace={(pointer) => setPlace({ pointer })}
      />
    </Split>
  );
}
