import { GatewayError, InvalidBodyError, type ProblemMembers } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';
import { isResourceName } from '../../shared/resource-name.js';
import { unlessTooCostly } from '../../shared/workers/errors.js';
import { ContextInvalidError } from '../json-ld/errors.js';
import type { Refused as ContextRefused } from '../json-ld/outcomes.js';
import type { ChangeReport } from '../json-schema/differences.js';
import { type RefusedSchema, SchemaRefusedError } from '../json-schema/errors.js';
import { type Dependent, listSome, type ModelKey } from '../../store/index.js';
import { INTERNAL_BASE, withBaseUrl } from './content-store.js';

/**
 * Creates the error for a body whose member has an invalid value.
 *
 * @param detail completes a sentence about the member
 */
export function invalidMember(member: string, detail: string): InvalidBodyError {
  return new InvalidBodyError(`The ${member} ${detail}.`, `/${member}`, detail);
}

/** A published model cannot become a draft again, because its versions must not change. */
export class PublishedError extends GatewayError {
  readonly kind = 'modelPublished';

  constructor({ name }: ModelKey) {
    super(`The model ${JSON.stringify(name)} has been published, and cannot become a draft again.`);
  }
}

/** A URI under which no document can be stored. */
export class ReferenceUriError extends GatewayError {
  readonly kind = 'invalidRequest';

  constructor(detail: string) {
    super(`The uri ${detail}.`);
  }

  override get members(): ProblemMembers {
    return { parameter: 'uri' };
  }
}

/** The model requires compatibility, but the change may refuse what was valid before, or accept what was not. */
export class IncompatibleChangeError extends GatewayError {
  readonly kind = 'incompatibleChange';

  /** @param direction `forward` if the report describes the change from the new version back to the current one */
  constructor(
    readonly report: ChangeReport,
    readonly direction: 'backward' | 'forward' = 'backward',
  ) {
    super(
      direction === 'backward'
        ? `The change is ${report.overall}, but the model accepts only ` +
            'backward compatible changes: what was valid must stay valid.'
        : `Seen from the new version, the change is ${report.overall}, but the model accepts ` +
            'only forward compatible changes: what is valid must have been valid in the previous version.',
    );
  }

  override get members(): ProblemMembers {
    return { report: this.report, direction: this.direction };
  }
}

/** A change of a context that would break some of its followers. */
export class BrokenFollowersError extends GatewayError {
  readonly kind = 'inUse';

  /** @param reason why the first of them would break, as a sentence */
  constructor(
    contextName: string,
    readonly dependents: readonly Dependent[],
    reason: string,
  ) {
    const whose = dependents.length === 1 ? '' : 'Of the first: ';
    super(
      `The context ${JSON.stringify(contextName)} is in use by ${listSome(dependents)}, ` +
        `which could no longer be processed with this change. ${whose}${reason}`,
    );
  }

  override get members(): ProblemMembers {
    return { dependents: this.dependents, total: this.dependents.length };
  }
}

/** Other clients changed the input or the target of a write at every attempt. */
export class ConcurrentUpdateError extends GatewayError {
  readonly kind = 'dependencyChanged';

  constructor(options: ErrorOptions) {
    super('Other clients are changing what this request depends on. Try again.', options);
  }
}

/** The model version has no such file. */
export class FileNotFoundError extends GatewayError {
  readonly kind = 'notFound';

  /** @param reason why there is none, as a sentence */
  constructor(
    readonly fileName: string,
    reason?: string,
  ) {
    const detail = `The model has no file ${JSON.stringify(fileName.slice(0, 200))}.`;
    super(reason === undefined ? detail : `${detail} ${reason}`);
  }
}

/**
 * Runs work that may refuse a schema.
 *
 * @param base pointer to the schema within the input; the work's own pointers are relative to it
 * @throws SchemaRefusedError with pointers into the input
 */
export async function withSchemaErrors<Result>(base: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await unlessTooCostly(work(), (cause) => {
      const detail = `processing the schema takes too much ${cause.bound}`;
      const errors = [{ pointer: '', detail }];
      throw new SchemaRefusedError('schemaTooCostly', `The schema is refused: ${detail}.`, errors, [], {
        cause,
      });
    });
  } catch (error) {
    if (!(error instanceof SchemaRefusedError)) throw error;
    const { kind, message, errors, missingUris } = error;
    const placed = errors.map(({ pointer, detail }) => ({ pointer: base + pointer, detail }));
    throw new SchemaRefusedError(kind, message, placed, missingUris, { cause: error });
  }
}

/**
 * Returns the result unless it is a refusal.
 *
 * @param reasons why documents are not available, by URI
 * @throws SchemaRefusedError for a refusal
 */
export function requireAcceptedSchema<Result extends object>(
  result: Result | RefusedSchema,
  reasons: ReadonlyMap<string, string> = new Map(),
): Result {
  if (!('refused' in result)) return result;
  const { kind, detail: sentence, errors, missingUris = [] } = result.refused;
  const explained = errors.map(({ pointer, detail }, index) => {
    const reason = reasons.get(missingUris[index] ?? '');
    return { pointer, detail: reason === undefined ? detail : `${detail}: ${reason}` };
  });
  throw new SchemaRefusedError(kind, sentence, explained, missingUris);
}

/**
 * Returns the result of checking a context.
 *
 * @param pointer to the context in the body
 * @param baseUrl replaces {@link INTERNAL_BASE} in messages
 * @throws ContextInvalidError for a context that is invalid, refused or too costly
 */
export async function requireValidContext<Result extends object>(
  check: Promise<Result | ContextRefused | { readonly invalid: readonly InputIssue[] }>,
  pointer: string,
  baseUrl = INTERNAL_BASE,
): Promise<Result> {
  const outcome = await unlessTooCostly(check, (cause) => {
    const detail = `Processing the context takes too much ${cause.bound}.`;
    throw new ContextInvalidError([{ pointer, detail }], { cause });
  });
  if ('refused' in outcome) throw new ContextInvalidError([{ pointer, detail: outcome.refused.detail }]);
  if ('invalid' in outcome)
    throw new ContextInvalidError(
      outcome.invalid.map((one) => ({ ...one, detail: withBaseUrl(one.detail, baseUrl) })),
    );
  return outcome;
}

/** Checks the name of a new domain, model or context. @throws InvalidBodyError */
export function requireName(name: string): string {
  if (isResourceName(name)) return name;
  throw invalidMember(
    'name',
    'must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and begin with a letter or a digit',
  );
}
