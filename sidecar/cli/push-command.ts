import { isDeepStrictEqual } from 'node:util';
import { ifMatch, type ApiClient } from '../client/client.js';
import type { RequestOf, Schemas } from '../client/operations.js';
import { ApiError, UnreachableError } from '../client/errors.js';
import type { JsonValue } from '../shared/json/json.js';
import { contextIn } from '../schemas/repository/context-names.js';
import { modelChangeOf } from '../schemas/repository/settings.js';
import { askYesNo, isInteractive, writeLines, writeJsonLine, type CliContext } from './context.js';
import { differenceLines } from './import-view.js';
import { EXIT, type ExitCode, usage, failure } from './exit-codes.js';
import { printable } from './format.js';
import { requireMembers, gatewayFailure, undefinedIfNotFound } from './gateway-responses.js';
import { writeDocument } from './output.js';
import { abortOnInterrupt } from './purge-command.js';
import { planPush, type PushOptions, type PushPlan } from './push-plan.js';
import { candidateOf } from './stored-candidates.js';
import {
  areAllAccepted,
  checkStored,
  requireStored,
  storedLines,
  type StoredOptions,
  type StoredVerdict,
} from './stored-check.js';

export interface PushCommandOptions extends PushOptions, StoredOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** The gateway's report on an update or on a dry run of one. */
type PushResult = Pick<Schemas['UpdatedModel'], 'outcome' | 'version' | 'change' | 'warnings'>;

const MODEL = '/domains/{domain}/models/{model}';

/**
 * Creates or updates one model on a gateway. Shows the changes first, and asks for confirmation if valid entities may become
 * invalid. The update fails if the model has changed since the comparison.
 *
 * @returns `partial` for a dry run that finds stored entities that would be refused
 */
export async function pushModel(
  path: string,
  options: PushCommandOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  requireStored(options);
  const plan = await planPush(path, options);
  const { domain, name } = plan;
  const there = await undefinedIfNotFound(gateway.answer('get', MODEL, { path: { domain, model: name } }));
  if (
    there === undefined &&
    (await undefinedIfNotFound(gateway.json('get', '/domains/{domain}', { path: { domain } }))) === undefined
  ) {
    if (options.dryRun === true) {
      const note = `The domain ${domain} does not exist: it would be created, and then the gateway would check the model.`;
      const stored = await storedBy(plan, options, gateway, context);
      const document = { dryRun: true, domain, model: name, outcome: 'created', stored };
      const lines = () => [`${domain}/${name}: new. ${note}`, ...storedLines(stored ?? [])];
      writeDocument(document, { json: options.json }, lines, context);
      return areAllAccepted(stored ?? []) ? EXIT.done : EXIT.partial;
    }
    await gateway.request('post', '/domains', { body: { name: domain } });
    let isPushed = false;
    try {
      const code = await putPlan(plan, undefined, options, gateway, context);
      isPushed = code === EXIT.done;
      return code;
    } finally {
      // The gateway refuses this while the domain has a model, such as one that somebody else added.
      if (!isPushed)
        await gateway.request('delete', '/domains/{domain}', { path: { domain } }).catch(() => undefined);
    }
  }
  return putPlan(plan, there?.etag, options, gateway, context);
}

/** Compares the plan with the model on the gateway, and updates it. @param etag of the model, if it exists */
async function putPlan(
  plan: PushPlan,
  etag: string | undefined,
  options: PushCommandOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const label = `${plan.domain}/${plan.name}`;
  const at = { domain: plan.domain, model: plan.name };
  const isThere = etag !== undefined;
  const body = JSON.stringify(
    modelChangeOf({ ...plan.texts, context: await contextFor(plan, gateway) }, isThere),
  );
  const headers = ifMatch(isThere ? strongEtag(etag) : undefined);
  const put = (query: { readonly dryRun?: true }) =>
    putModel(gateway, { path: at, query, body, headers }, context, options);
  const found = await put({ dryRun: true });
  const isSame = found.outcome === 'unchanged' || found.outcome === 'settings';
  const stored = isSame ? undefined : await storedBy(plan, options, gateway, context);
  const isHarmless = found.change.overall === 'compatible' && areAllAccepted(stored ?? []);
  const isSeen = options.dryRun !== true && options.yes !== true && !isHarmless;
  const show = (push: PushResult, isDry: boolean) =>
    showPush(push, { label, plan, isDry, isSeen, stored, json: options.json }, context);
  if (options.dryRun === true || found.outcome === 'unchanged') {
    show(found, options.dryRun === true);
    return areAllAccepted(stored ?? []) ? EXIT.done : EXIT.partial;
  }
  if (isSeen) {
    writeLines(context.stderr, ...changeLines(label, found), ...storedLines(stored ?? []));
    if (!isInteractive(context)) {
      const why = areAllAccepted(stored ?? []) ? '' : ', stored entities would be refused';
      throw usage(
        `The change is ${found.change.overall}${why}, and there is no ` +
          'terminal to ask for confirmation: add --yes. Nothing was changed.',
      );
    }
    if (!(await confirm(`Update ${label}? [y/N] `, context))) {
      writeLines(context.stderr, 'Nothing was changed.');
      return EXIT.interrupted;
    }
  }
  try {
    show(await put({}), false);
  } catch (error) {
    if (!(error instanceof UnreachableError && error.mayHaveArrived)) throw error;
    throw gatewayFailure(error, `${label} may have been changed. Run the same command again to check.`);
  }
  return EXIT.done;
}

/** Checks which stored entities the new version would refuse, if `--stored` asks for it. */
async function storedBy(
  { domain, name: model, texts }: PushPlan,
  options: PushCommandOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<readonly StoredVerdict[] | undefined> {
  if (options.stored !== true) return undefined;
  const { schema = null } = modelChangeOf({ schema: texts.schema, id: texts.id }, true);
  return checkStored(
    [await candidateOf({ domain, model, schema }, gateway, context)],
    options,
    gateway,
    context,
  );
}

/** Returns the context's name if the gateway has stored the same context under it, as an import does; otherwise its content. */
async function contextFor({ context }: PushPlan, gateway: ApiClient): Promise<JsonValue | undefined> {
  if (context?.name === undefined) return context?.value;
  const path = { context: context.name };
  const stored = await undefinedIfNotFound(gateway.text('get', '/contexts/{context}', { path }));
  if (stored === undefined) return context.value;
  try {
    return isDeepStrictEqual(contextIn(stored), context.value) ? context.name : context.value;
  } catch (cause) {
    throw failure('The gateway answered with something that is not JSON.', { cause });
  }
}

/** Makes an ETag strong again. A proxy that compresses weakens ETags, but the gateway compares them as it sent them. */
function strongEtag(given: string): string {
  const etag = given.replace(/^W\//, '');
  if (/^"[^"]+"$/.test(etag)) return etag;
  throw failure('The gateway sent no ETag, so an update would not be safe.');
}

async function putModel(
  gateway: ApiClient,
  request: RequestOf<'put', typeof MODEL>,
  context: CliContext,
  { json }: PushCommandOptions,
): Promise<PushResult> {
  try {
    const answer = await gateway.json('put', MODEL, request);
    const what = 'the report of an update';
    const push = requireMembers(answer, what, { outcome: 'string', change: 'object', warnings: 'array' });
    requireMembers(push.change, what, {
      overall: ['compatible', 'narrowing', 'breaking'],
      differences: 'array',
    });
    return push;
  } catch (error) {
    const { report } = error instanceof ApiError ? (error.problem as Partial<Schemas['Problem']>) : {};
    if (json !== true && report !== undefined)
      writeLines(context.stderr, ...differenceLines(report.differences).map(printable));
    throw error;
  }
}

function changeLines(label: string, { change: { overall, differences } }: PushResult): readonly string[] {
  return [`${label}: ${overall}`, ...differenceLines(differences).map((line) => `  ${line}`)].map(printable);
}

interface ShowPushOptions {
  readonly label: string;
  readonly plan: PushPlan;
  readonly isDry: boolean;
  /** Whether the changes were already shown, above the question. */
  readonly isSeen: boolean;
  readonly stored: readonly StoredVerdict[] | undefined;
  readonly json: boolean | undefined;
}

/** Shows what happened to the model, or would happen in a dry run. */
function showPush(
  push: PushResult,
  { label, plan, isDry, isSeen, stored, json }: ShowPushOptions,
  context: CliContext,
): void {
  const { outcome, version, change, warnings } = push;
  if (json === true) {
    const { domain, name: model } = plan;
    const dryRun = isDry || undefined;
    writeJsonLine(context, { dryRun, domain, model, outcome, version, change, warnings, stored });
    return;
  }
  for (const { detail } of warnings) writeLines(context.stderr, `Warning: ${printable(detail)}`);
  if (change.differences.length > 0 && !isSeen) writeLines(context.stdout, ...changeLines(label, push));
  if (!isSeen) writeLines(context.stdout, ...storedLines(stored ?? []));
  const sentences: Readonly<Record<string, string>> = {
    created: isDry ? 'would be created' : 'was created',
    unchanged: 'has not changed',
    settings: isDry ? 'would get new settings' : 'has new settings',
    version: isDry ? `would get version ${version}` : `now has version ${version}`,
    replaced: isDry ? 'would get a new draft' : 'has a new draft',
  };
  writeLines(context.stdout, `${label} ${sentences[outcome] ?? outcome}.`);
}

async function confirm(question: string, context: CliContext): Promise<boolean> {
  const { signal, release } = abortOnInterrupt(context);
  return askYesNo(context, question, signal).finally(release);
}
