import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import type { CancelSignal } from '../../shared/cancel-signal.js';
import type { InputIssue } from '../../shared/json/pointer.js';
import { cut } from '../../shared/shown.js';
import { WorkersBusyError } from '../../shared/workers/errors.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { Model } from '../../store/records.js';
import type { ByTypeTasks, NamedType, TypeModel, TypesInBody } from '../validation/by-type-tasks.js';
import { deprecationOf } from './lifecycles.js';
import type { ModelSchemas } from './model-schemas.js';
import type { ModelSearch } from './model-search.js';
import { answerOf, withinBounds, WorkbenchRefusedError } from './workbench-errors.js';

export interface ValidateByTypeOptions {
  /** Where the models are looked for; everywhere when not given. */
  readonly domain?: string | undefined;
  readonly form?: SubmittedForm | undefined;
  readonly isStrict?: boolean | undefined;
  readonly signal?: CancelSignal | undefined;
}

interface Parts {
  readonly schemas: ModelSchemas;
  readonly search: ModelSearch;
  readonly workers: TaskRunner<ByTypeTasks>;
  /** Deadline of one task, in milliseconds. */
  readonly deadlineMs: number;
}

/** How many deadlines of a task the compilation of a model may take. */
const COMPILE_DEADLINES = 5;

/** Each round may reach another worker, which has not compiled the models yet. */
const MAX_ROUNDS = 16;

/** Characters of a type that messages repeat. */
const MAX_SHOWN = 200;

/** See `Workbench`. */
export async function validatedByType(
  { schemas: modelSchemas, search, workers, deadlineMs }: Parts,
  text: string,
  { domain, form, isStrict = true, signal }: ValidateByTypeOptions,
): Promise<string> {
  const options = signal === undefined ? {} : { signal, mayFinish: true };
  const body = { text, ...(form === undefined ? {} : { form }) };
  const types = await withinBounds(workers.run('typesInBody', body, options));
  if (!('found' in types)) throw refusalOf(types);
  const chosen = await modelsOf(search, types.found, domain);
  const withSchemas = await Promise.all(
    chosen.map(async ({ model, types: own }) => ({
      model,
      types: own,
      schema: await modelSchemas.of(model, undefined),
    })),
  );
  const input = {
    ...body,
    ...(isStrict ? {} : { isStrict }),
    models: withSchemas.map(({ model, types: own, schema }): TypeModel => ({
      key: schema.contentHash,
      name: model.name,
      title: `${model.domain}/${model.name}`,
      types: own,
      ...deprecationOf(model, schema.lifecycle),
    })),
  };
  const queueKey = `validate ${input.models.map(({ key }) => key).join(' ')}`;
  const schemas = new Map<string, string>();
  const addNeeded = async (needs: readonly string[]) => {
    for (const { schema } of withSchemas)
      if (needs.includes(schema.contentHash)) schemas.set(schema.contentHash, await schema.text());
  };
  const normal = { ...options, queueKey };
  // Schemas were accepted before, so compiling them ends. Entities get no more time than they would without that.
  const compiling = { ...normal, deadlineMs: COMPILE_DEADLINES * deadlineMs };
  let areKept = true;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    // Of models that no worker keeps together, compiling is part of each validation.
    const run = areKept
      ? workers.run('validateByType', input, normal)
      : workers.run('validateByType', { ...input, schemas: [...schemas] }, compiling);
    const outcome = await withinBounds(run);
    if (!('needs' in outcome)) return answerOf(outcome);
    await addNeeded(outcome.needs);
    const models = input.models.map(({ key, name }) => ({ key, name }));
    const prepared = await withinBounds(
      workers.run('prepareByType', { models, schemas: [...schemas] }, compiling),
    );
    if ('needs' in prepared) await addNeeded(prepared.needs);
    else ({ areKept } = prepared);
  }
  throw new WorkersBusyError(MAX_ROUNDS);
}

/** What a body without types is refused with. */
function refusalOf(outcome: Parameters<typeof answerOf>[0]): Error {
  try {
    answerOf(outcome);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return new Error('A task neither found types nor refused a body.');
}

interface Chosen {
  readonly model: Model;
  readonly types: readonly string[];
}

/**
 * The models of the types, each once.
 *
 * @throws WorkbenchRefusedError
 */
async function modelsOf(
  search: ModelSearch,
  found: readonly TypesInBody[],
  domain: string | undefined,
): Promise<readonly Chosen[]> {
  const known = new Map<string, readonly Model[]>();
  for (const one of found.flatMap(({ types }) => types))
    if (!known.has(one.type)) known.set(one.type, await candidatesFor(search, one, domain));
  const modelsFor = ({ type }: NamedType) => known.get(type) ?? [];
  const unknown = found.filter(({ types }) => types.every((type) => modelsFor(type).length === 0));
  if (unknown.length > 0)
    throw refused(
      'TYPE_UNKNOWN',
      unknown.map(({ types, pointer }) => ({
        pointer,
        detail: `has no model for its type ${listOf(types)}${domain === undefined ? '' : ` in the domain ${domain}`}`,
      })),
    );
  const ambiguous = found.flatMap(({ types, pointer }) =>
    types
      .filter((one) => modelsFor(one).length > 1)
      .map((one) => ({ pointer, detail: `${shownType(one)} is the type of ${titlesOf(modelsFor(one))}` })),
  );
  if (ambiguous.length > 0) throw refused('TYPE_AMBIGUOUS', ambiguous);
  const chosen = new Map<string, { readonly model: Model; readonly types: string[] }>();
  for (const [type, [model]] of known) {
    if (model === undefined) continue;
    const title = titleOf(model);
    const one = chosen.get(title) ?? { model, types: [] };
    one.types.push(type);
    chosen.set(title, one);
  }
  return [...chosen.values()];
}

/**
 * A type is known by its name, and as an IRI by the last part of it. Drafts count only where no other model has it.
 */
async function candidatesFor(
  search: ModelSearch,
  { type, localName }: NamedType,
  domain: string | undefined,
): Promise<readonly Model[]> {
  let drafts: readonly Model[] = [];
  for (const name of new Set([type, localName])) {
    const all = await search.ofType(name, domain);
    const published = all.filter(({ status }) => status !== 'draft');
    if (published.length > 0) return published;
    if (drafts.length === 0) drafts = all;
  }
  return drafts;
}

function refused(
  code: 'TYPE_UNKNOWN' | 'TYPE_AMBIGUOUS',
  errors: readonly InputIssue[],
): WorkbenchRefusedError {
  const [{ pointer, detail } = { pointer: '', detail: '' }] = errors;
  const hint = code === 'TYPE_UNKNOWN' ? '' : '; name the domain (?domain=), or validate against one model';
  return new WorkbenchRefusedError(
    code,
    `The entity ${pointer === '' ? '' : `at ${pointer} `}${code === 'TYPE_UNKNOWN' ? detail : `has no single model: ${detail}`}${hint}.`,
    errors,
  );
}

function listOf(types: readonly NamedType[]): string {
  const some = types.slice(0, 5).map(shownType).join(', ');
  return types.length > 5 ? `${some}, …` : some;
}

function shownType({ type }: NamedType): string {
  return JSON.stringify(cut(type, MAX_SHOWN));
}

function titlesOf(models: readonly Model[]): string {
  return models.map(titleOf).join(' and ');
}

function titleOf({ domain, name }: Model): string {
  return `${domain}/${name}`;
}
