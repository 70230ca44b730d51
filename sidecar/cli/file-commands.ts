import type { ApiClient } from '../client/client.js';
import { parseJson } from '../shared/json/lossless-json.js';
import { inferenceTasks, type SampleForm } from '../schemas/inference/tasks.js';
import { writeLines, writeJsonLine, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import { jsonText, printable } from './format.js';
import { readJson, readJsonText } from './json-file.js';

export interface JsonLdOptions {
  readonly context?: string;
  readonly safe?: boolean;
  readonly json?: boolean;
}

/** Expands or compacts JSON-LD documents with the contexts of a gateway. */
export const expand = (...given: Processing) => processJsonLd('expand', ...given);
export const compact = (...given: Processing) => processJsonLd('compact', ...given);

type Processing = readonly [file: string, options: JsonLdOptions, gateway: ApiClient, context: CliContext];

/** Sends a document with its context to a gateway, and writes the result. */
async function processJsonLd(
  how: 'expand' | 'compact',
  file: string,
  { context: contextName, safe, json }: JsonLdOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const document = await readJson(file, context);
  const body = JSON.stringify({
    document,
    ...(contextName === undefined ? {} : { context: await contextOf(contextName, context) }),
    ...(safe === true ? { safe } : {}),
  });
  const answer = await gateway.json('post', `/workbench/jsonld/${how}`, { body });
  if (json === true) writeJsonLine(context, answer);
  else {
    writeLines(context.stdout, jsonText(answer.result, 2));
    for (const warning of answer.warnings)
      writeLines(context.stderr, `Warning: ${printable(warning.detail)}`);
  }
  return EXIT.done;
}

/** Returns a URL unchanged; for a file, returns the context in it. */
async function contextOf(name: string, context: CliContext): Promise<unknown> {
  if (/^https?:\/\//i.test(name)) return name;
  const content = await readJson(name, context);
  const isDocument = typeof content === 'object' && content !== null && '@context' in content;
  return isDocument ? content['@context'] : content;
}

export interface InferOptions {
  readonly model?: string;
  readonly form?: SampleForm;
  readonly enums?: boolean;
  readonly json?: boolean;
}

/**
 * Infers a JSON Schema from a sample or an array of samples: on a gateway if one is given, otherwise in this process.
 */
export async function inferSchema(
  file: string,
  { model, form = 'keyvalues', enums = false, json }: InferOptions,
  gateway: ApiClient | undefined,
  context: CliContext,
): Promise<ExitCode> {
  const text = await readJsonText(file, context);
  const schema =
    gateway === undefined
      ? inferLocally(file, text, { model, form, enums })
      : await gateway.json('post', '/workbench/schema/infer', {
          query: { form, model, ...(enums ? { enum: true } : {}) },
          body: text,
        });
  writeLines(context.stdout, json === true ? jsonText(schema) : jsonText(schema, 2));
  return EXIT.done;
}

interface Inferring {
  readonly model: string | undefined;
  readonly form: SampleForm;
  readonly enums: boolean;
}

function inferLocally(file: string, text: string, { model, form, enums }: Inferring): unknown {
  const outcome = inferenceTasks.infer({
    text,
    form,
    enumerates: enums,
    ...(model === undefined ? {} : { model }),
  });
  if ('unreadable' in outcome) {
    const { line, column, detail } = outcome.unreadable;
    throw usage(`${file}, line ${line}, column ${column}: ${printable(detail)}`);
  }
  if ('refused' in outcome) {
    const faults = outcome.refused.errors
      .slice(0, 5)
      .map((fault) => `\n  ${printable(JSON.stringify(fault))}`);
    throw new CliError(EXIT.partial, `${file}: ${outcome.refused.detail}${faults.join('')}`);
  }
  return parseJson(outcome.answer);
}
