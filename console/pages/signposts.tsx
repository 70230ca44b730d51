import { addressOf } from '../api/client.js';
import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';

/** What the API and the command line offer for entities and JSON-LD. */
export function WorkbenchPage() {
  const { workbench } = text;
  return (
    <div class="page">
      <h1>{workbench.title}</h1>
      <p class="lead">{workbench.lead}</p>
      <div class="table" role="region" aria-label={workbench.title} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {workbench.columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {workbench.rows.map(([request, command, meaning]) => (
              <tr key={request}>
                <td>
                  <code>{request}</code>
                </td>
                <td>
                  <code>{command}</code>
                </td>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>
        {workbench.docs} <a href={addressOf('api/v2/openapi.json')}>OpenAPI</a>
      </p>
    </div>
  );
}

export function NotFoundPage() {
  return (
    <div class="page narrow">
      <h1>{text.notFound.title}</h1>
      <p>{text.notFound.detail}</p>
      <p>
        <a href={routeTo(['purge'])}>{text.notFound.link}</a>
      </p>
    </div>
  );
}
