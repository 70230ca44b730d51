import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/hooks.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { attributeRows } from './attribute-rows.js';
import { readFile, type Model, addressIn, MODEL, pathOf } from './models-api.js';
import { Download } from '../parts/button.js';
import { JsonText } from '../parts/json-text.js';
import { api } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Copyable } from '../parts/copyable.js';
import { findContext } from './contexts-api.js';
import { toContext, toModel } from './routes.js';

/** The attributes of a model as a table, for people who do not want to read the schema. */
export function ModelAttributes({ model }: { readonly model: Model }) {
  const t = text.models.attributes;
  const { value, error, reload } = useLoad(`${model.domain}/${model.name}`, (signal) =>
    readFile(model, 'openapi.json', signal),
  );
  if (error !== undefined || value === undefined) return <Pending {...{ value, error, reload }} />;
  const rows = attributeRows(value, model.schema);
  if (rows.length === 0) return <p class="quiet">{t.none}</p>;
  return (
    <Table label={t.title} columns={[t.name, text.labels.kind, t.type, t.unit, text.labels.description]}>
      {rows.map(({ name, isRequired, kind, type, unit, description }) => (
        <tr key={name}>
          <th scope="row" class="term">
            {name}
            {isRequired && <span class="chip">{t.required}</span>}
          </th>
          <td>{kind}</td>
          <td>
            <code>{type}</code>
          </td>
          <td>{unit ?? '–'}</td>
          <td class="prose">{description}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A file that the gateway generates from a model, as text and to download. */
export function ModelFile({
  model,
  file,
  title = file,
  failed,
  isWhole,
}: {
  readonly model: Model;
  readonly file: string;
  readonly title?: string;
  /** Title of the error if there is no such file. */
  readonly failed?: string;
  readonly isWhole?: boolean;
}) {
  const address = addressIn(model, ['files', file]);
  const { value, error, reload } = useLoad(address, (signal) => readFile(model, file, signal));
  return (
    <div class="file">
      <div class="bar">
        <h3>{title}</h3>
        <Download href={address} name={`${model.name}.${file}`} />
      </div>
      <Pending {...{ value, error, reload }} title={failed} />
      {value !== undefined && <JsonText label={title} value={value} isWhole={isWhole} />}
    </div>
  );
}

/** The context of a model, its URL for brokers, and the model's own context. */
export function ModelContext({ model, etag }: { readonly model: Model; readonly etag: string }) {
  const t = text.models.contexts;
  const address = addressIn(model, ['context']);
  const { value, error, reload } = useLoad(`${address} ${etag}`, async (signal) => {
    const [document, about] = await Promise.all([
      api.json('get', `${MODEL}/context`, { path: pathOf(model), signal }),
      findContext(model.contextName, signal),
    ]);
    return { document, url: about?.url };
  });
  const { context: own } = model;
  return (
    <>
      <Card
        id="document"
        title={t.document}
        tools={<Download href={address} name={`${model.name}.context.jsonld`} />}
      >
        <Pending {...{ value, error, reload }} />
        {value?.url !== undefined && <Copyable label={t.url} value={value.url} />}
        {value !== undefined && <JsonText label={t.document} value={value.document} isWhole />}
      </Card>
      <Card id="own" title={t.own}>
        {own === undefined ? <p class="quiet">{t.noOwn}</p> : <OwnContext own={own} />}
        <p>
          <a href={toModel(model, 'settings')}>{t.changeOwn}</a>
        </p>
      </Card>
    </>
  );
}

/** The name of a stored context is a link to it; anything else is shown as given. */
function OwnContext({ own }: { readonly own: unknown }) {
  if (typeof own === 'string' && !own.includes(':'))
    return (
      <p>
        <a href={toContext(own)}>{own}</a>
      </p>
    );
  return <JsonText label={text.models.contexts.own} value={own} />;
}
