import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { canonicalJson } from '../../shared/json/lossless-json.js';
import { schemaIn, schemasIn } from '../json-schema/flatten.js';
import { issue, type Issue, type Place, type Check } from './issue.js';
import { allowedValue, counted, howMany, shown, typeWord } from './words.js';

/** The issues that keywords on arrays find in one, except unevaluatedItems. */
export function arrayIssues(
  schema: JsonObject,
  place: Place,
  items: readonly JsonValue[],
  check: Check,
  most: number,
): readonly Issue[] {
  const found: Issue[] = [
    ...sizeIssues(schema, place, items),
    ...containsIssues(schema, place, items, check),
  ];
  const listed = schemasIn(schema, 'prefixItems');
  const rest = schemaIn(schema, 'items');
  const checked = rest === undefined ? Math.min(listed.length, items.length) : items.length;
  for (let index = 0; index < checked && found.length < most; index += 1) {
    const own = listed[index] ?? rest;
    if (own !== undefined && own !== true) found.push(...check(own, place.child(index)));
  }
  return found;
}

/** An item that is not allowed at all. */
export function unknownItem(place: Place, keyword: string): Issue {
  const plain = 'is not among the items that the schema allows';
  return issue(place, keyword, () => ({ must: 'not be there', plain }));
}

function sizeIssues(schema: JsonObject, place: Place, items: readonly JsonValue[]): readonly Issue[] {
  const found: Issue[] = [];
  const [least, most] = ['minItems', 'maxItems'].map((keyword) => member(schema, keyword));
  const holds = `holds ${howMany(items.length)}`;
  if (typeof least === 'number' && items.length < least)
    found.push(
      issue(place, 'minItems', () => ({ must: `hold at least ${counted(least, 'item')}`, found: holds })),
    );
  if (typeof most === 'number' && items.length > most)
    found.push(
      issue(place, 'maxItems', () => ({ must: `hold at most ${counted(most, 'item')}`, found: holds })),
    );
  const again = member(schema, 'uniqueItems') === true ? firstRepeated(items) : undefined;
  if (again !== undefined) {
    const [first, second] = again;
    const words = () => ({
      must: 'hold no item twice',
      found: `holds ${shown(items[first] ?? null)} at ${first} and ${second}`,
    });
    found.push(issue(place, 'uniqueItems', words));
  }
  return found;
}

function containsIssues(
  schema: JsonObject,
  place: Place,
  items: readonly JsonValue[],
  check: Check,
): readonly Issue[] {
  const wanted = schemaIn(schema, 'contains');
  if (wanted === undefined) return [];
  const [low, high] = ['minContains', 'maxContains'].map((keyword) => member(schema, keyword));
  const least = typeof low === 'number' ? low : 1;
  const most = typeof high === 'number' ? high : Infinity;
  if (least === 0 && most === Infinity) return [];
  const count = items.filter((_, index) => check(wanted, place.child(index)).length === 0).length;
  if (count >= least && count <= most) return [];
  const [keyword, bound] =
    count < least
      ? (['minContains', `at least ${counted(least, 'item')}`] as const)
      : (['maxContains', `at most ${counted(most, 'item')}`] as const);
  const words = () => ({ must: `hold ${bound} ${whichIs(wanted)}`, found: `holds ${howMany(count)}` });
  return [issue(place, member(schema, keyword) === undefined ? 'contains' : keyword, words)];
}

/** The items that `contains` means, in words where its schema is simple. */
function whichIs(wanted: JsonObject | boolean): string {
  if (!isObject(wanted)) return 'of those that count';
  const constant = member(wanted, 'const');
  if (constant !== undefined) return `that is ${allowedValue(constant)}`;
  const type = member(wanted, 'type');
  if (Object.keys(wanted).length === 1 && typeof type === 'string') return `that is ${typeWord(type)}`;
  return 'as the schema describes it under "contains"';
}

/** The first item that was there before, with where it was. */
function firstRepeated(items: readonly JsonValue[]): readonly [first: number, second: number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(item);
    const first = seen.get(text);
    if (first !== undefined) return [first, index];
    seen.set(text, index);
  }
  return undefined;
}
