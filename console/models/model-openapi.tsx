import { Card } from '../parts/card.js';
import { Download } from '../parts/download.js';
import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { addressIn, readFile, type Model } from './models-api.js';
import { summaryOf, type ApiOperation, type ApiSchema } from './openapi-summary.js';

/** Describes a broker's API for entities of a model, for people; the file is for programs. */
export function ModelOpenapi({ model }: { readonly model: Model }) {
  const t = text.models.openapi;
  const address = addressIn(model, ['files', 'openapi.json']);
  const { value, error, reload } = useLoad(address, (signal) => readFile(model, 'openapi.json', signal));
  if (error !== undefined || value === undefined) return <Pending {...{ value, error, reload }} />;
  const { operations, schemas } = summaryOf(value);
  return (
    <>
      <Card
        id="operations"
        title={t.operations}
        tools={<Download href={address} name={`${model.name}.openapi.json`} />}
      >
        <p class="quiet">{t.lead}</p>
        {operations.map((operation) => (
          <Operation key={`${operation.method} ${operation.path}`} operation={operation} />
        ))}
      </Card>
      <Card id="schemas" title={t.schemas}>
        {schemas.map((schema) => (
          <SchemaTable key={schema.name} schema={schema} />
        ))}
      </Card>
    </>
  );
}

function Operation({ operation }: { readonly operation: ApiOperation }) {
  const t = text.models.openapi;
  const { method, path, summary, parameters, body, answers } = operation;
  return (
    <details class="operation">
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>{' '}
        <span class="quiet">{summary}</span>
      </summary>
      {parameters.length > 0 && (
        <>
          <h4>{t.parameters}</h4>
          <dl class="members">
            {parameters.map(({ name, place, isRequired, description }) => (
              <div key={`${place} ${name}`}>
                <dt>
                  <code>{name}</code>{' '}
                  <span class="quiet">{isRequired ? `${place}, ${t.required}` : place}</span>
                </dt>
                <dd>{description}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {body.length > 0 && (
        <>
          <h4>{t.body}</h4>
          <ul class="findings">
            {body.map(({ mediaType, holds }) => (
              <li key={mediaType}>
                <code>{mediaType}</code> {holds}
              </li>
            ))}
          </ul>
        </>
      )}
      <h4>{t.answers}</h4>
      <dl class="members">
        {answers.map(({ status, description }) => (
          <div key={status}>
            <dt>
              <code>{status}</code>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function SchemaTable({ schema: { name, members } }: { readonly schema: ApiSchema }) {
  const t = text.models.openapi;
  return (
    <details class="operation">
      <summary>
        <code>{name}</code>
      </summary>
      <Table label={name} columns={[t.member, t.holds, text.models.description]}>
        {members.map((member) => (
          <tr key={member.name}>
            <th scope="row" class="term">
              {member.name}
              {member.isRequired && <span class="chip">{t.required}</span>}
            </th>
            <td>
              <code>{member.holds}</code>
            </td>
            <td class="prose">{member.description}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
