import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { attributeRows } from './attribute-rows.js';
import { readFile, type Model } from './models-api.js';

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
    <Table label={t.title} columns={[t.name, t.kind, t.type, t.unit, text.models.description]}>
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
