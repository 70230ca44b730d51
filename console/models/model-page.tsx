import { Page, Tabs } from '../parts/page.js';
import { Card } from '../parts/card.js';
import { Pending } from '../parts/states.js';
import { ConfirmButton } from '../parts/dialog.js';
import { time } from '../shared/format.js';
import { useLoad } from '../shared/hooks.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { setDraft } from '../shared/drafts.js';
import { ModelAttributes, ModelContext, ModelFile } from './model-attributes.js';
import { ModelExamples } from './model-examples.js';
import { draftName, ModelSchema } from './model-schema.js';
import { ModelSettingsForm, settingsDraft } from './model-settings.js';
import { ModelVersions } from './model-versions.js';
import { StatusChip } from './model-table.js';
import { readModel, removeModel, type ModelKey, type ModelPartProps } from './models-api.js';
import { MODEL_PARTS, toDomain, toModel, toModels, type ModelPart } from './routes.js';
import { Warnings } from './save-panel.js';

/** One model, and the part of it that the address names. */
export function ModelPage({
  domain,
  name,
  part: given,
  params,
}: ModelKey & { readonly part: string | undefined; readonly params: URLSearchParams }) {
  const key: ModelKey = { domain, name };
  const part = MODEL_PARTS.find((one) => one === given) ?? 'schema';
  const { value, error, reload } = useLoad(`${domain}/${name}`, (signal) => readModel(key, signal));
  return (
    <Page
      title={name}
      crumbs={[
        [toModels(), text.models.allDomains],
        [toDomain(domain), domain],
      ]}
      lead={value?.value.description}
      actions={value !== undefined && <Actions read={value} onChanged={reload} />}
    >
      <Pending {...{ value, error, reload }} />
      {value !== undefined && (
        <>
          {value.value.deprecatedAt !== undefined && (
            <p class="lead">{text.models.deprecatedSince(time(value.value.deprecatedAt))}</p>
          )}
          {value.value.sunset !== undefined && (
            <p class="lead">{text.models.sunsetOn(time(value.value.sunset))}</p>
          )}
          {(part === 'schema' || part === 'context') && (
            <Warnings level="h2" warnings={value.value.warnings} />
          )}
          <Tabs
            label={text.models.partsOf(name)}
            tabs={MODEL_PARTS.map((one) => ({
              href: toModel(key, one),
              name: text.models.parts[one],
              isShown: one === part,
            }))}
          />
          <Part key={part} part={part} read={value} onChanged={reload} params={params} />
        </>
      )}
    </Page>
  );
}

function Actions({ read: { value: model, etag }, onChanged }: ModelPartProps) {
  const t = text.models;
  const { name, domain, version, status } = model;
  return (
    <>
      <span class="chip">{t.versionName(version)}</span>
      <StatusChip status={status} />
      <ForRole roles={['modeller']}>
        <ConfirmButton
          label={text.labels.remove}
          class="last"
          title={t.removeTitle(name)}
          message={t.removeWhat(version, model.contextName)}
          confirm={t.removeGo}
          onConflict={onChanged}
          onConfirm={async () => {
            await removeModel(model, etag);
            for (const draft of [draftName(model), settingsDraft(model)]) setDraft(draft, undefined);
            location.hash = toDomain(domain);
          }}
        />
      </ForRole>
    </>
  );
}

function Part({
  part,
  read,
  onChanged,
  params,
}: ModelPartProps & { readonly part: ModelPart; readonly params: URLSearchParams }) {
  const { value: model, etag } = read;
  switch (part) {
    case 'schema':
      return <ModelSchema read={read} onChanged={onChanged} />;
    case 'attributes':
      return <ModelAttributes key={etag} model={model} />;
    case 'versions':
      return <ModelVersions key={etag} read={read} params={params} />;
    case 'examples':
      return <ModelExamples key={etag} read={read} />;
    case 'openapi':
      return (
        <Card id="openapi" title={text.models.parts.openapi}>
          <p class="quiet">{text.models.openapiLead}</p>
          <ModelFile key={etag} model={model} file="openapi.json" isWhole />
        </Card>
      );
    case 'context':
      return <ModelContext key={etag} model={model} etag={etag} />;
    case 'settings':
      return <ModelSettingsForm key={etag} read={read} onChanged={onChanged} />;
  }
}
