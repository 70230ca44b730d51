import { cutoffOf, olderThan, QueryRefusedError } from '../../purge/index.js';
import { type InputIssue, pointerOf } from '../../shared/json/json.js';
import type { RetentionSettings } from '../../store/index.js';
import { checkSchedule, checkTimeZone } from './schedule.js';

/** The settings of a policy could never run. Lists everything that is wrong with them, each error at its member. */
class SettingsRefusedError extends QueryRefusedError {
  readonly #errors: readonly InputIssue[];

  constructor(refusals: readonly [QueryRefusedError, ...QueryRefusedError[]]) {
    const [{ kind, parameter }] = refusals;
    super(kind, refusals.map(({ message }) => message).join(' '), parameter, { cause: refusals[0] });
    this.#errors = refusals.map((refusal) => ({
      pointer: pointerOf([memberOf(refusal)]),
      detail: refusal.message,
    }));
  }

  override get members() {
    return { ...super.members, errors: this.#errors };
  }
}

/** Members that refusals name as such. Any other name is a parameter of the query. */
const MEMBERS: ReadonlySet<string> = new Set([
  'olderThan',
  'by',
  'schedule',
  'timeZone',
  'maxAffected',
  'maxPerSecond',
  'archive',
  'tenant',
]);

function memberOf({ parameter = 'query' }: QueryRefusedError): string {
  if (parameter.toLowerCase() === 'link') return 'link';
  return MEMBERS.has(parameter) ? parameter : 'query';
}

/**
 * Checks the settings of a policy member by member, and then as a whole.
 *
 * @param asAWhole checks the purge of a run; called only if each member is valid by itself
 * @throws SettingsRefusedError
 */
export function checkSettings(settings: RetentionSettings, nowMs: number, asAWhole: () => unknown): void {
  const { target, query, by, olderThan: age } = settings;
  const zone = refusalOf(() => checkTimeZone(settings.timeZone));
  const timeZone = zone === undefined ? settings.timeZone : 'UTC';
  const cutoff = cutoffOf(nowMs, 'P1D');
  const found = [
    zone,
    refusalOf(() => checkSchedule({ schedule: settings.schedule, timeZone }, nowMs)),
    refusalOf(() => cutoffOf(nowMs, age, timeZone)),
    refusalOf(() => olderThan('', { target, by }, cutoff)),
    refusalOf(() => olderThan(query, { target, by: 'modifiedAt' }, cutoff)),
  ].filter((one) => one !== undefined);
  const whole = found.length === 0 ? refusalOf(asAWhole) : undefined;
  const [first, ...others] = whole === undefined ? found : [whole];
  if (first !== undefined) throw new SettingsRefusedError([first, ...others]);
}

function refusalOf(check: () => unknown): QueryRefusedError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof QueryRefusedError) return error;
    throw error;
  }
}
