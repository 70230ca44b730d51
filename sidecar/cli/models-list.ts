import { allPages, type ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import type { CliContext } from './context.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { formatCount, formatTable, jsonText, printable } from './format.js';
import { requireMembers } from './gateway-responses.js';
import { modelNamed } from './model-name.js';
import { colouredState, writeList, writeDocument } from './output.js';
import type { OutputOptions } from './program-options.js';

const MAX_PAGE = 1000;

interface ListOptions extends OutputOptions {
  readonly domain?: string;
  readonly type?: string;
  readonly attribute?: string;
}

/** Lists models by domain and name. */
export async function listModels(
  q: string | undefined,
  { domain, type, attribute, ...form }: ListOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const all = await allPages((params) =>
    gateway.page('/models', { query: { q, type, attribute, ...params } }),
  );
  const found = all.filter((model) => domain === undefined || model.domain === domain);
  const table = {
    head: ['MODEL', 'VERSION', 'STATUS', 'MODIFIED', 'DESCRIPTION'],
    row: (model: (typeof found)[number]) => [
      printable(`${model.domain}/${model.name}`),
      String(model.version),
      colouredState(printable(model.status), context),
      ...[model.modifiedAt, model.description ?? ''].map(printable),
    ],
    none: 'There are no such models.',
  };
  writeList(found, form, table, context);
  return EXIT.done;
}

/** Shows a model: its settings, versions and schema for people, otherwise the API's document. */
export async function getModel(
  name: string,
  form: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { domain, model, version } = modelNamed(name, 'The model', true);
  const path = { domain, model };
  const answer = await gateway.json('get', '/domains/{domain}/models/{model}', { path, query: { version } });
  const found = requireMembers(answer, 'a model', { name: 'string', version: 'number', warnings: 'array' });
  const { items: versions } = await gateway.page('/domains/{domain}/models/{model}/versions', { path });
  const contextUrl = await contextUrlOf(found, gateway);
  writeDocument(found, form, () => linesOf(found, versions, contextUrl), context);
  return EXIT.done;
}

/** Lists the examples of a model, or shows one by name. */
export async function getExamples(
  of: string,
  name: string | undefined,
  form: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { domain, model } = modelNamed(of, 'The model');
  const path = { domain, model };
  if (name !== undefined) {
    const found = await gateway.json('get', `${EXAMPLES}/{example}`, { path: { ...path, example: name } });
    writeDocument(found, form, () => [jsonText(found, 2)], context);
    return EXIT.done;
  }
  const { items } = await gateway.page(EXAMPLES, { path, query: { limit: MAX_PAGE } });
  const table = {
    head: ['NAME', 'FORM', 'BYTES'],
    row: (one: (typeof items)[number]) => [
      printable(one.name),
      printable(one.form ?? ''),
      formatCount(one.size),
    ],
    none: 'The model has no examples.',
  };
  writeList(items, form, table, context);
  return EXIT.done;
}

const EXAMPLES = '/domains/{domain}/models/{model}/examples';

/**
 * Returns the URL from which brokers fetch the context of a model. Only the gateway knows under which address they reach it.
 */
async function contextUrlOf(
  { contextName }: Schemas['Model'],
  gateway: ApiClient,
): Promise<string | undefined> {
  const isIt = ({ name }: Schemas['Context']) => name === contextName;
  const all = await allPages((query) => gateway.page('/contexts', { query }), isIt);
  return all.find(isIt)?.url;
}

function linesOf(
  model: Schemas['Model'],
  versions: readonly Schemas['ModelVersion'][],
  context: string | undefined,
): readonly string[] {
  const { status, compatibility, dialect, modifiedAt, description, warnings, schema } = model;
  const settings = { description, status, compatibility, dialect, context, modified: modifiedAt };
  const rows = Object.entries(settings).flatMap(([name, value]) => (value ? [[name, printable(value)]] : []));
  const made = versions.map(({ version, createdAt, change }) => [
    `version ${version}`,
    [createdAt, change ?? ''].map(printable).join('  ').trimEnd(),
  ]);
  return [
    `${printable(`${model.domain}/${model.name}`)}, version ${model.version}`,
    ...formatTable([...rows, ...made]),
    ...warnings.map(({ detail }) => printable(`warning: ${detail}`)),
    jsonText(schema, 2),
  ];
}
