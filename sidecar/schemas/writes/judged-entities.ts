import type { WriteKind } from '../../ngsi-ld/write-route.js';
import { isObject, type JsonValue, pointerOf } from '../../shared/json/json.js';
import { Reports } from '../validation/reports.js';
import { type BodyFault, idOf, isAttributeKind, type WrittenEntities } from './body.js';
import { itemSpans } from '../../shared/json/json-positions.js';
import type { WriteError } from './judge-entity.js';
import { choosePolicy, isRefused } from './policy-choice.js';
import type { JudgedItem, JudgeInput, Judgement, WriteFinding } from './protocol.js';

/** Maximum number of errors of one entity that are counted. */
const MAX_FINDINGS = 20;

/** The verdict on one entity of a write; valid if there are neither errors nor a reason. */
export interface Verdict {
  /** Index of the policy that applies to the entity. */
  readonly policy: number;
  /** Why the entity is not judged. */
  readonly reason?: string;
  readonly errors?: readonly WriteError[];
}

/** The one of two verdicts that lets less pass. @param candidates the policies */
export function stricterVerdict(candidates: JudgeInput['candidates'], one: Verdict, other: Verdict): Verdict {
  const strictness = ({ policy, reason, errors }: Verdict): number => {
    const candidate = candidates[policy];
    if (candidate === undefined || candidate.mode === 'off') return 0;
    if (reason === undefined && errors === undefined) return 1;
    const verdict = errors === undefined ? 'not-judged' : 'invalid';
    return (isRefused(verdict, candidate) ? 4 : 2) + (errors === undefined ? 0 : 1);
  };
  return strictness(other) > strictness(one) ? other : one;
}

/** The judgement on a body that cannot be read, so that nobody knows what is in it. */
export function unreadableBody(
  candidates: JudgeInput['candidates'],
  { detail, keyword, line, column }: BodyFault,
): Judgement {
  const policy = choosePolicy(candidates, [{ written: '', iri: undefined }]);
  const errors = JSON.stringify([{ pointer: '', detail, keyword, line, column }]);
  const findings = [{ model: '', pointer: '', keyword, detail: 'is a body that cannot be read' }];
  const item: JudgedItem = { index: 0, id: undefined, policy, verdict: 'invalid', errors, findings };
  const isOff = candidates[policy]?.mode === 'off';
  return { valid: [], others: isOff ? [] : [item], ids: undefined, dependsOn: [] };
}

/** Combines the verdicts on the entities of a write, without those of policies that are off. */
export function judgedEntities(
  { kind, id, attribute, candidates }: Pick<JudgeInput, 'kind' | 'id' | 'attribute' | 'candidates'>,
  verdicts: readonly Verdict[],
  { text, entities, isBatch }: WrittenEntities,
): Pick<Judgement, 'valid' | 'others' | 'partialBatch'> {
  const valid = new Map<number, number>();
  const others: JudgedItem[] = [];
  const reports = new Reports();
  const reported: number[] = [];
  for (const [index, { policy, reason, errors }] of verdicts.entries()) {
    if (candidates[policy]?.mode === 'off') continue;
    const given = entities[index] ?? null;
    const entityId = id ?? idOf(given);
    if (errors !== undefined) {
      const base = isBatch ? [String(index)] : [];
      const tokensOf = bodyTokens(kind, attribute, given);
      const entity = isObject(given) ? given : {};
      const moved = errors.map((error) => ({ ...error, tokens: tokensOf(error.tokens) }));
      reports.add(entity, { form: 'normalized', errors: moved, warnings: [] }, base);
      reported.push(others.length);
      others.push({ index, id: entityId, policy, verdict: 'invalid', findings: findingsOf(errors) });
    } else if (reason !== undefined)
      others.push({ index, id: entityId, policy, verdict: 'not-judged', reason });
    else valid.set(policy, (valid.get(policy) ?? 0) + 1);
  }
  if (reported.length > 0)
    for (const [at, report] of reports.write(text).entries()) {
      const position = reported[at] ?? 0;
      const { errors } = JSON.parse(report) as { readonly errors: readonly unknown[] };
      others[position] = { ...(others[position] as JudgedItem), errors: JSON.stringify(errors) };
    }
  const refused = others.filter(({ verdict, policy }) => {
    const candidate = candidates[policy];
    return candidate !== undefined && isRefused(verdict, candidate);
  });
  const refusedIndexes = new Set(refused.map(({ index }) => index));
  const isPartial =
    isBatch &&
    refusedIndexes.size > 0 &&
    refusedIndexes.size < entities.length &&
    refused.every(({ policy }) => candidates[policy]?.allowsPartialBatch === true);
  return {
    valid: [...valid],
    others,
    ...(isPartial ? { partialBatch: withoutEntities(text, entities, refusedIndexes) } : {}),
  };
}

/** Returns a function that places an error of an attribute in the body, which may be the attribute itself. */
function bodyTokens(
  kind: WriteKind,
  attribute = '',
  body: JsonValue,
): (tokens: readonly string[]) => readonly string[] {
  if (!isAttributeKind(kind) && kind !== 'temporal-instance') return (tokens) => tokens;
  const isWrapped = isObject(body) && Object.hasOwn(body, attribute);
  return (tokens) => (tokens[0] === attribute && !isWrapped ? tokens.slice(1) : tokens);
}

function findingsOf(errors: readonly WriteError[]): readonly WriteFinding[] {
  return errors.slice(0, MAX_FINDINGS).map(({ model, tokens, keyword, predicate }) => ({
    model,
    pointer: pointerOf(tokens.map((token) => (/^\d+$/.test(token) ? '*' : token))),
    keyword,
    detail: predicate(),
  }));
}

/** The batch as it was written, without some of its entities. */
function withoutEntities(text: string, entities: readonly JsonValue[], refused: ReadonlySet<number>) {
  const kept = itemSpans(text).flatMap((span, index) => (refused.has(index) ? [] : [{ span, index }]));
  return {
    body: `[${kept.map(({ span: [start, end] }) => text.slice(start, end)).join(',')}]`,
    ids: kept.flatMap(({ index }) => idOf(entities[index] ?? null) ?? []),
  };
}
