import { time } from '../shared/format.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import type { ModelSummary } from './models-api.js';
import { toDomain, toModel } from './routes.js';

/** A table of models with a link to each. */
export function ModelTable({
  models,
  label,
  hasDomains = false,
}: {
  readonly models: readonly ModelSummary[];
  readonly label: string;
  /** Whether each row names its domain. */
  readonly hasDomains?: boolean;
}) {
  const t = text.models;
  return (
    <Table
      label={label}
      columns={[
        text.labels.model,
        ...(hasDomains ? [text.labels.domain] : []),
        text.labels.description,
        { number: t.version },
        t.changed,
      ]}
    >
      {models.map((model) => (
        <tr key={`${model.domain}/${model.name}`}>
          <td class="name">
            <a href={toModel(model)}>{model.name}</a>
            <StatusChip status={model.status} />
          </td>
          {hasDomains && (
            <td class="name">
              <a href={toDomain(model.domain)}>{model.domain}</a>
            </td>
          )}
          <td class="prose">
            <p class="clamped">{model.description}</p>
          </td>
          <td class="number">{model.version}</td>
          <td class="when">{time(model.modifiedAt)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Shows that a model is a draft or deprecated; shows nothing for other models. */
export function StatusChip({ status }: Pick<ModelSummary, 'status'>) {
  if (status === 'published') return null;
  return <span class={status === 'deprecated' ? 'chip warn' : 'chip busy'}>{status}</span>;
}
