import { NON_ATTRIBUTE_MEMBERS, TIME_MEMBERS } from '../../ngsi-ld/members.js';
import { conditionsOf, type QCondition, type QNode, type QValue, valuesOf } from '../../ngsi-ld/q.js';
import { temporalKindOf } from '../../ngsi-ld/q-time.js';
import { refusedData } from './parameters.js';

/**
 * Refuses a query that compares a time with something else, as in `modifiedAt<90d`. Brokers compare the two as texts, and by
 * these all times are before `90d` or `yesterday`: the condition would restrict nothing.
 *
 * @throws QueryRefusedError
 */
export function checkTimeConditions(query: QNode): void {
  for (const condition of conditionsOf(query)) {
    if (!isAboutTime(condition)) continue;
    const wrong = valuesOf(condition).find((value) => !isMoment(value));
    if (wrong === undefined) continue;
    const name = condition.path.names.join('.');
    const text = wrong.kind === 'number' ? wrong.source : String(wrong.value);
    throw refusedData(
      'q',
      `q compares ${name} with ${text.slice(0, 200)}, which is not a date or a time with its date. ` +
        'Write it as in 2026-01-31 or 2026-01-31T12:00:00Z.',
    );
  }
}

/** Whether a condition is about a time of an entity or an attribute. An entity itself has no `observedAt`. */
function isAboutTime({ path: { names, valuePath } }: QCondition): boolean {
  const last = names.at(-1) ?? '';
  return (
    valuePath.length === 0 && TIME_MEMBERS.has(last) && (names.length > 1 || NON_ATTRIBUTE_MEMBERS.has(last))
  );
}

function isMoment({ kind, value }: QValue): boolean {
  const of = kind === 'string' ? temporalKindOf(value) : kind;
  return of === 'date' || of === 'dateTime';
}
