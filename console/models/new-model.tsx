import { useState } from 'preact/hooks';
import { Choice, Field, Tick } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { draftOf, keepDraft } from './drafts.js';
import { faultsOf, jsonFault } from '../editor/faults.js';
import { shownJson } from './model-schema.js';
import { LINES_BEFORE_SCHEMA, writeModel } from './model-write.js';
import { createDomain, domainNames } from './models-api.js';
import { toModel, toModels } from './places.js';
import { SampleCard, type Inferred } from './sample-card.js';
import { SavePanel } from './save-panel.js';
import { JsonEditor, type Place } from '../editor/json-editor.js';
import { useTrial, type Trial } from './use-trial.js';
import { withExample } from './samples.js';

/** A choice that no domain can have as its name. */
const NEW = '~';

/** Under which the typed schema is kept. */
const DRAFT = '~new';

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;

/** A new model: from samples, or from a schema that is there already. */
export function NewModelPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.models;
  const [domain, setDomain] = useState(params.get('domain') ?? '');
  const [newDomain, setNewDomain] = useState('');
  const [name, setName] = useState('');
  const [isNamed, setIsNamed] = useState(false);
  const [description, setDescription] = useState('');
  const [schema, setSchema] = useState(draftOf(DRAFT)?.text ?? '');
  const [isDraft, setIsDraft] = useState(false);
  const [place, setPlace] = useState<Place>();
  const [error, setError] = useState<unknown>();
  const [isSaving, setIsSaving] = useState(false);
  const domains = useLoad('domains', domainNames);

  const names = domains.value ?? [];
  const chosen = domain !== '' ? domain : (names[0] ?? NEW);
  const isNew = chosen === NEW;
  const target = (isNew ? newDomain : chosen).trim();
  const key = { domain: target, name: name.trim() };
  const settings = {
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(isDraft ? { status: 'draft' as const } : {}),
  };
  const write = { schemaText: schema, settings };
  const unreadable = schema.trim() === '' ? undefined : jsonFault(schema);
  const wait = waitFor({ schema, unreadable, target, name: key.name });
  const isTried = wait === undefined && !isNew;
  const { trial, again } = useTrial(isTried ? key : undefined, isTried ? write : undefined, 'absent');

  const type = (typed: string) => {
    keepDraft(DRAFT, typed.trim() === '' ? undefined : { text: typed, etag: '' });
    setSchema(typed);
    setError(undefined);
  };
  const take = ({ schema: inferred, example, name: guessed }: Inferred) => {
    type(shownJson(withExample(inferred, example)));
    if (!isNamed && guessed !== undefined) setName(guessed);
  };
  const save = async () => {
    setIsSaving(true);
    setError(undefined);
    try {
      if (isNew) {
        await createDomain({ name: target });
        // It is there from now on, whatever becomes of the model.
        domains.reload();
        setDomain(target);
      }
      await writeModel(key, write, 'absent');
      keepDraft(DRAFT, undefined);
      location.hash = toModel(key);
    } catch (failure) {
      setError(failure);
      setIsSaving(false);
    }
  };
  const problem = error ?? (trial.isCurrent ? trial.error : undefined);
  return (
    <div class="page">
      <p class="crumb">
        <a href={toModels()}>{t.allDomains}</a>
      </p>
      <h1>{t.create}</h1>
      <p class="lead">{t.createLead}</p>
      {domains.error !== undefined && <Failure error={domains.error} onRetry={domains.reload} />}
      <SampleCard onInferred={take} name={key.name} />
      <div class="columns editing">
        <section class="card" aria-labelledby="schema">
          <h2 id="schema">{t.schema}</h2>
          <JsonEditor
            label={t.schema}
            value={schema}
            onInput={type}
            faults={faultsOf(problem, '/schema', LINES_BEFORE_SCHEMA)}
            place={place}
          />
        </section>
        <SavePanel
          trial={isNew ? NEW_DOMAIN_TRIAL : trial}
          wait={wait}
          isSaving={isSaving}
          error={error}
          onSave={() => void save()}
          onAgain={again}
          overtaken={t.exists}
          onPlace={(pointer) => setPlace({ pointer })}
        >
          <div class="stack">
            <Choice
              label={t.domain}
              value={chosen}
              choices={[
                ...[...new Set([...names, ...(isNew ? [] : [chosen])])].map((one) => [one, one] as const),
                [NEW, t.otherDomain] as const,
              ]}
              onChoose={setDomain}
            />
            {isNew && (
              <Field label={t.newDomain} hint={t.nameHint} isWide value={newDomain} onInput={setNewDomain} />
            )}
            <Field
              label={t.modelName}
              hint={t.modelNameHint}
              isWide
              value={name}
              onInput={(value) => {
                setName(value);
                setIsNamed(true);
                setError(undefined);
              }}
            />
            <Field label={t.description} isWide value={description} onInput={setDescription} />
            <Tick label={t.asDraft} isOn={isDraft} onChange={setIsDraft} />
          </div>
        </SavePanel>
      </div>
    </div>
  );
}

/** In a domain that is not there yet, nothing can be tried; the model is checked when it is saved. */
const NEW_DOMAIN_TRIAL: Trial = {
  isCurrent: true,
  error: undefined,
  found: {
    ...({ dryRun: true, outcome: 'created' } as const),
    ...{ version: 1, warnings: [], change: { overall: 'compatible', differences: [] } },
  },
};

function waitFor({
  schema,
  unreadable,
  target,
  name,
}: {
  readonly schema: string;
  readonly unreadable: string | undefined;
  readonly target: string;
  readonly name: string;
}): string | undefined {
  const t = text.models;
  if (schema.trim() === '') return t.needsSchema;
  if (unreadable !== undefined) return t.notJson(unreadable);
  if (!NAME.test(target)) return t.needsDomain;
  return NAME.test(name) ? undefined : t.needsName;
}
