import { useState } from 'preact/hooks';
import { Page, Unsaved } from '../parts/page.js';
import { Card } from '../parts/card.js';
import { isResourceName } from '../../sidecar/shared/resource-name.js';
import { bindForm, Select, Field, Checkbox, nonEmpty } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { useLoad, useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { ConfirmDialog } from '../parts/dialog.js';
import { setDraft, useDraft } from '../shared/drafts.js';
import { errorsOf, jsonError } from '../editor/errors.js';
import { shownJson } from '../parts/json-text.js';
import { LINES_BEFORE_SCHEMA, writeModel } from './model-write.js';
import { createDomain, domainNames } from './models-api.js';
import { toModel, toModels } from './routes.js';
import { SAMPLE_DRAFT, SampleCard, type Inferred } from './sample-card.js';
import { SavePanel } from './save-panel.js';
import { JsonEditor } from '../editor/json-editor.js';
import type { Position } from '../editor/errors.js';
import { useDryRun, type DryRun } from './use-dry-run.js';
import { withExample } from './samples.js';

/** A value for a choice that cannot be the name of a domain. */
const NEW = '~';

/** The initial form of a new model. */
const EMPTY = {
  domain: '',
  newDomain: '',
  name: '',
  isNamed: false,
  description: '',
  isDraft: false,
  schema: '',
  /** The schema as inferred from samples. If the user has changed it, they are asked before it is inferred again. */
  inferred: '',
};

/** A new model, from samples or from an existing schema. */
export function NewModelPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.models;
  const draft = useDraft('new model', () => EMPTY);
  const { domain, newDomain, name, isNamed, description, isDraft, schema, inferred } = draft.form;
  const [replacing, setReplacing] = useState<Inferred>();
  const [place, setPlace] = useState<Position>();
  const { isBusy, error, run, clear } = useAction();
  const domains = useLoad('domains', domainNames);

  const names = domains.value ?? [];
  const chosen = [domain, params.get('domain') ?? ''].find((one) => one !== '') ?? names[0] ?? NEW;
  const isNew = chosen === NEW;
  const target = (isNew ? newDomain : chosen).trim();
  const key = { domain: target, name: name.trim() };
  const settings = {
    ...nonEmpty({ description }),
    ...(isDraft ? { status: 'draft' as const } : {}),
  };
  const write = { schemaText: schema, settings };
  const syntaxError = schema.trim() === '' ? undefined : jsonError(schema);
  const blocked = [
    schema.trim() === '' && t.needsSchema,
    syntaxError !== undefined && t.notJson(syntaxError),
    !isResourceName(target) && t.needsDomain,
    !isResourceName(key.name) && t.needsName,
  ].find((one) => one !== false);
  const isTried = blocked === undefined && !isNew;
  const { dryRun, retry } = useDryRun(isTried ? key : undefined, isTried ? write : undefined, 'absent');

  const change = (changed: Partial<typeof EMPTY>) => {
    draft.change(changed);
    clear();
  };
  const bind = bindForm(draft.form, change);
  const take = ({ schema: found, example, name: guessed }: Inferred) => {
    const made = shownJson(withExample(found, example));
    change({
      schema: made,
      inferred: made,
      ...(isNamed || guessed === undefined ? {} : { name: guessed }),
    });
  };
  const save = async () => {
    if (isNew) {
      await createDomain({ name: target });
      // The domain exists from now on, even if saving the model fails.
      domains.reload();
      draft.change({ domain: target });
    }
    await writeModel(key, write, 'absent');
    draft.forget();
    setDraft(SAMPLE_DRAFT, undefined);
    location.hash = toModel(key);
  };
  const problem = error ?? (dryRun.isCurrent ? dryRun.error : undefined);
  return (
    <Page
      title={t.create}
      crumbs={[[toModels(), t.allDomains]]}
      lead={t.createLead}
      actions={draft.isChanged && <Unsaved onDiscard={draft.discard} />}
    >
      {domains.error !== undefined && <Failure error={domains.error} onRetry={domains.reload} />}
      <SampleCard
        onInferred={(made) => (schema.trim() === '' || schema === inferred ? take(made) : setReplacing(made))}
        name={key.name}
      />
      {replacing !== undefined && (
        <ConfirmDialog
          title={t.replaceTitle}
          message={t.replaceWhat}
          confirm={t.replaceGo}
          onClose={() => setReplacing(undefined)}
          onConfirm={async () => {
            take(replacing);
            setReplacing(undefined);
          }}
        />
      )}
      <div class="columns editing">
        <Card id="schema" title={t.schema}>
          <JsonEditor
            label={t.schema}
            {...bind('schema')}
            errors={errorsOf(problem, '/schema', LINES_BEFORE_SCHEMA)}
            place={place}
          />
        </Card>
        <SavePanel
          dryRun={isNew ? NEW_DOMAIN_DRY_RUN : dryRun}
          blocked={blocked}
          isSaving={isBusy}
          error={error}
          onSave={() => run(save)}
          onRetry={retry}
          conflictTitle={t.exists}
          onPosition={(pointer) => setPlace({ pointer })}
        >
          <div class="stack">
            <Select
              label={text.labels.domain}
              value={chosen}
              choices={[...new Set([...names, ...(isNew ? [] : [chosen])]), [NEW, t.otherDomain]]}
              onInput={(to) => change({ domain: to })}
            />
            {isNew && <Field {...bind('newDomain')} label={t.newDomain} hint={text.labels.nameHint} isWide />}
            <Field
              label={t.modelName}
              hint={t.modelNameHint}
              isWide
              value={name}
              onInput={(typed) => change({ name: typed, isNamed: true })}
            />
            <Field {...bind('description')} label={text.labels.description} isWide />
            <Checkbox {...bind('isDraft')} label={t.asDraft} />
          </div>
        </SavePanel>
      </div>
    </Page>
  );
}

/** Nothing can be checked in a domain that does not exist yet; the model is checked when it is saved. */
const NEW_DOMAIN_DRY_RUN: DryRun = {
  isCurrent: true,
  error: undefined,
  found: {
    ...({ dryRun: true, outcome: 'created' } as const),
    version: 1,
    warnings: [],
    change: { overall: 'compatible', differences: [] },
  },
};
