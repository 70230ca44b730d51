import type { Schemas } from '../client/operations.js';
import { differenceLines, section } from './import-view.js';
import { formatCount, formatItems, printable } from './format.js';

/** Whether an import would change something. A refused file counts as a change, because its effect is unknown. */
export function hasChanges({ summary, dependents }: Schemas['ImportReport']): boolean {
  const { created, updated, refused } = summary;
  return created + updated + refused > 0 || dependents.some(({ status }) => status !== 'unchanged');
}

/** Formats what an import would change, for people: models first, then other files, and the counts last. */
export function diffLines({ summary, files, dependents }: Schemas['ImportReport']): readonly string[] {
  const models = files.filter(({ model }) => model !== undefined);
  const others = files.filter(({ model }) => model === undefined);
  const { domains } = summary;
  const [same, byContext] = [models.filter(isSame).length, models.filter(isChangedByContext).length];
  const counts = (['created', 'updated'] as const).map((status) => {
    return `${formatCount(models.filter((file) => file.status === status).length)} would be ${status}`;
  });
  return [
    ...models.flatMap((file) => modelLines(file.model ?? '', file, ` (${file.path})`)),
    ...dependents.flatMap((one) =>
      modelLines(`${one.domain}/${one.model}`, one, isChangedByContext(one) ? '' : ', by a changed document'),
    ),
    ...section('Shared documents, contexts and other files', others.flatMap(otherLines)),
    `${formatItems(models.length, 'models')} in ` +
      `${domains.length === 0 ? 'no domain' : domains.join(', ')}: ` +
      `${counts.join(', ')}, ${formatCount(same)} ` +
      `unchanged${byContext === 0 ? '' : `, ${formatCount(byContext)} changed by a context`}. ` +
      `Files refused: ${formatCount(summary.refused)}.`,
  ].map(printable);
}

/** @param where text for the end of the line that says where the model comes from */
function modelLines(
  model: string,
  entry: Schemas['ImportedFile'] | Schemas['UpdatedDependent'],
  where: string,
): readonly string[] {
  const { status, change, differences = [], reason } = entry;
  if (isSame(entry)) return [];
  const what = status === 'created' ? 'new' : (change ?? 'updated, without any effect on what is valid');
  const by = isChangedByContext(entry) ? ', by a changed context' : '';
  const lines = [...(reason === undefined ? [] : [reason]), ...differenceLines(differences)];
  return [
    `${model}: ${status === 'refused' ? 'refused' : what}${by}${where}`,
    ...lines.map((line) => `  ${line}`),
    ...(lines.length === 0 ? [] : ['']),
  ];
}

/** Whether an import would leave a model unchanged. */
function isSame({ status, change }: Pick<Schemas['ImportedFile'], 'status' | 'change'>): boolean {
  return status === 'unchanged' && change === undefined;
}

/** Whether a model keeps its version, but a changed context changes its meaning. */
function isChangedByContext({ status, change }: Pick<Schemas['ImportedFile'], 'status' | 'change'>): boolean {
  return status === 'unchanged' && change !== undefined;
}

function otherLines({ path, url, context, status, reason }: Schemas['ImportedFile']): readonly string[] {
  if (status === 'unchanged') return [];
  if (status === 'refused') return [`${path}: refused. ${reason ?? ''}`];
  return [`${url ?? context ?? path}: would be ${status} (${path})`];
}
