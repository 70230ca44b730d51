import type { JsonObject } from '../../shared/json/json.js';
import { validateInLikelyForm } from './choose-form.js';
import type { Model } from './model.js';
import type { Spelling } from './spelling.js';
import type { EntityOptions, EntityVerdict } from './validate-entity.js';

/**
 * What any of some models has against an entity. An attribute that one of them does not know may be known to another.
 *
 * @param models at least one
 */
export function verdictByModels(
  models: readonly Model[],
  entity: JsonObject,
  options: EntityOptions,
  spelling: Spelling,
): EntityVerdict {
  const verdicts = models.map((model) => validateInLikelyForm(entity, model, options, spelling));
  const [first, ...others] = verdicts;
  if (first === undefined) throw new Error('An entity was to be validated without a model.');
  if (others.length === 0) return first;
  const warnings = verdicts.flatMap((one, index) =>
    one.warnings.filter(({ code }) => index === 0 || code !== UNKNOWN),
  );
  const isUnknownToAll = ({ tokens }: { readonly tokens: readonly string[] }) =>
    verdicts.every((one) =>
      one.warnings.some((other) => other.code === UNKNOWN && other.tokens.join('/') === tokens.join('/')),
    );
  return {
    form: first.form,
    errors: distinct(verdicts.flatMap((one) => one.errors)),
    warnings: distinct(warnings.filter((one) => one.code !== UNKNOWN || isUnknownToAll(one))),
  };
}

const UNKNOWN = 'unknown-attribute';

interface Issue {
  readonly tokens: readonly string[];
  readonly keyword?: string;
  readonly code?: string;
  readonly say: () => string;
}

/** Models of one entity agree on what NGSI-LD forbids: it is said once. */
function distinct<One extends Issue>(all: readonly One[]): readonly One[] {
  const keyOf = ({ tokens, keyword, code, say }: Issue) => JSON.stringify([tokens, keyword, code, say()]);
  return [...new Map(all.map((one) => [keyOf(one), one] as const)).values()];
}
