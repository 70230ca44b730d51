import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import { parse } from 'yaml';
import {
  formatDuration,
  formatItems,
  formatRate,
  formatTable,
  jsonText,
  printable,
} from '../../../sidecar/cli/format.js';
import { writeLines } from '../../../sidecar/cli/context.js';
import { yamlOf } from '../../../sidecar/cli/output.js';
import { createProgressLine } from '../../../sidecar/cli/progress.js';
import { createTestClock } from '../../support/purge-harness.js';
import { parseJson } from '../../../sidecar/shared/json/lossless-json.js';
import { exitCodeOf, summaryOf, unitOf, type PurgeView } from '../../../sidecar/cli/purge-view.js';

const NOW = { clock: createTestClock(Date.parse('2026-12-01T10:00:00Z')) };
const VIEW: PurgeView = {
  id: 'p1',
  state: 'running',
  target: 'entities',
  query: 'type=A',
  dryRun: false,
  matched: 3000,
  deleted: 0,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  requests: 1,
};

it('the output for people has readable numbers, times and rates', () => {
  assert.equal(formatItems(3000, 'entities'), '3,000 entities');
  assert.equal(formatItems(1, 'entities'), '1 entity');
  assert.equal(formatItems(1, 'attributes'), '1 attribute');
  assert.deepEqual([0, 850, 1500, 9999, 59_600, 125_000, 11_040_000].map(formatDuration), [
    '0 ms',
    '850 ms',
    '1.5 s',
    '10.0 s',
    '1 min 0 s',
    '2 min 5 s',
    '3 h 4 min',
  ]);
  assert.deepEqual([0.25, 9.94, 2000.4].map(formatRate), ['0.3/s', '9.9/s', '2,000/s']);
  assert.deepEqual(
    formatTable([
      ['ID', 'STATE'],
      ['abc', 'done'],
    ]),
    ['ID   STATE', 'abc  done'],
  );
});

it('the columns of a table are aligned whatever script their texts have', () => {
  const cells = ['ab', '東京', 'ｱｱ', '서울', '🚲', '♻️', 'e\u0301', '\u001b[31mab\u001b[39m'];
  const widths = [2, 4, 2, 4, 2, 2, 1, 2];
  const lines = formatTable(cells.map((cell) => [cell, 'x']));
  assert.deepEqual(
    lines,
    cells.map((cell, index) => `${cell}${' '.repeat(6 - (widths[index] ?? 0))}x`),
  );
});

it('the output for people contains no foreign text that a terminal would interpret as a command', () => {
  assert.equal(printable('urn:\u001b[2Ja\r\nb\u202ec'), 'urn:\\u001b[2Ja\\u000d\\u000ab\\u202ec');
  const view = { ...VIEW, state: 'failed', problem: { detail: 'bad \u001b]0;x\u0007' } } as const;
  assert.ok(!summaryOf(view, undefined, NOW).join('').includes('\u001b'));
});

it('control characters in a text of a broker or a gateway never reach the terminal, except line ends, tabs and colours', () => {
  let written = '';
  const stream = new PassThrough().on('data', (chunk) => (written += String(chunk)));
  writeLines(stream, 'a\tb\u001b[1;31mred\u001b[39m', 'c\r\nd\u001b[2J\u001b]0;title\u0007\u009b2J');
  assert.equal(
    written,
    'a\tb\u001b[1;31mred\u001b[39m\nc\\u000d\nd\\u001b[2J\\u001b]0;title\\u0007\\u009b2J\n',
  );
});

it('YAML of the command line has the same meaning in YAML 1.1 and 1.2, and keeps all digits', () => {
  const texts = [
    'no',
    'y',
    '12:30:00',
    '2026-01-01',
    '0x1F',
    '1_000',
    '<<',
    'a\u001b[2J',
    '\u2028b\n',
    'c\u009b',
  ];
  const record = parseJson(
    `{"on": ${JSON.stringify(texts)}, "<<": {"n": 1.00000000000000000001}, "i": 9223372036854775807}`,
  );
  const written = yamlOf(record);
  assert.match(written, /"?n"?: 1\.00000000000000000001\n"?i"?: 9223372036854775807$/);
  assert.doesNotMatch(written, /[\u001b\u009b\u2028]/);
  for (const version of ['1.1', '1.2'] as const) {
    const read = parse(written, { version, merge: true }) as Record<string, unknown>;
    assert.deepEqual(read['on'], texts, version);
    assert.deepEqual(Object.keys(read), ['on', '<<', 'i'], version);
  }
});

it('JSON of the command line has no character that a terminal would interpret as a command', () => {
  const record = { id: 'urn:\u009b2J\u202e', texts: ['a\nb'] };
  for (const indent of [undefined, 2]) {
    const written = jsonText(record, indent);
    assert.doesNotMatch(written, /[\u009b\u202e]/);
    assert.deepEqual(JSON.parse(written), record);
  }
});

it('the output for people escapes every control character, line break and change of direction', () => {
  for (const [first, last] of [
    ['\u0000', '\u001f'],
    ['\u007f', '\u009f'],
    ['\u2028', '\u2029'],
    ['\u202a', '\u202e'],
    ['\u2066', '\u2069'],
  ] as const) {
    for (const character of [first, last]) {
      const code = character.charCodeAt(0).toString(16).padStart(4, '0');
      assert.equal(printable(`a${character}b`), `a\\u${code}b`);
    }
  }
  const beside = ' ~\u00a0\u2027\u202f\u2065\u206aä→';
  assert.equal(printable(beside), beside);
});

it('the summary of a purge shows every count that is not zero', () => {
  const view: PurgeView = {
    ...VIEW,
    state: 'partial',
    deleted: 2000,
    alreadyGone: 5,
    failed: 990,
    unknown: 5,
    arrived: 3,
  };
  const lines = summaryOf({ ...view, errors: [{ entityId: 'urn:a:1', error: { title: 'No' } }] }, 2000, NOW);
  assert.deepEqual(lines, [
    'Deleted 2,000 entities in 2.0 s (1,000/s).',
    '5 were already gone.',
    '990 could not be deleted.',
    '5 may or may not be gone: the broker did not respond. Purge again to be sure.',
    '3 arrived during the purge and were not deleted.',
    '  urn:a:1: No',
  ]);
});

it('the summary of a purge that archived what it deleted says how to undo it, at the gateway of --gateway', () => {
  const archive = { entities: 7, bytes: 9000, expiresAt: '2027-02-28T10:00:00.000Z' };
  const view: PurgeView = {
    ...VIEW,
    id: '5f4d93aa-64f1-46f4-831f-562bff63a981',
    state: 'succeeded',
    deleted: 7,
  };
  assert.deepEqual(summaryOf({ ...view, archive }, undefined, NOW), [
    'Deleted 7 entities.',
    'Archived until 2027-02-28. To undo: ngsi-ld-gateway purges restore 5f4d93aa-64f1-46f4-831f-562bff63a981',
  ]);
  for (const [url, quoted] of [
    ['http://localhost:8080', 'http://localhost:8080'],
    ["http://[::1]:80/it's", String.raw`'http://[::1]:80/it'\''s'`],
  ] as const) {
    const [, hint = ''] = summaryOf({ ...view, archive }, undefined, { ...NOW, gatewayOption: url });
    assert.ok(hint.endsWith(` purges restore ${view.id ?? ''} --gateway ${quoted}`), hint);
  }
  for (const other of [
    view,
    { ...view, archive, deleted: 0 },
    { ...view, archive: { ...archive, expiresAt: '2026-11-30T10:00:00.000Z' } },
    { ...view, archive: { ...archive, erasedAt: '2027-01-01T10:00:00.000Z' } },
  ])
    assert.equal(summaryOf(other, undefined, NOW).length, 1);
});

it('the summary of a purge counts entities, attributes or instances, depending on the query', () => {
  for (const [target, query, unit] of [
    ['entities', 'type=A&q=attrs', 'entities'],
    ['entities', 'type=A&drop=a', 'attributes'],
    ['entities', 'keep=a&type=A', 'attributes'],
    ['temporal', 'type=A', 'entities'],
    ['temporal', 'type=A&attrs=a', 'attributes'],
    ['temporal', 'type=A&attrs=a&datasetId=urn:d', 'datasets'],
    ['temporal', 'type=A&attrs=a&timerel=before&timeAt=x', 'instances'],
  ] as const)
    assert.equal(unitOf({ target, query }), unit, query);
  assert.equal(unitOf({ target: 'entities', query: 'type=A', unit: 'instances' }), 'instances');
});

it('the summary of a purge that ended early says how much was done', () => {
  const detail = 'The broker went away.';
  assert.match(
    summaryOf({ ...VIEW, state: 'cancelled', deleted: 7 }, 100, NOW)[0] ?? '',
    /^Cancelled: 7 entities/,
  );
  const failed = summaryOf({ ...VIEW, state: 'failed', deleted: 7, problem: { detail } }, 100, NOW)[0];
  assert.equal(failed, `Failed: ${detail} 7 entities had been deleted in 100 ms.`);
});

it('the exit code shows how a purge ended', () => {
  const states = ['succeeded', 'partial', 'refused', 'failed', 'interrupted', 'cancelled'] as const;
  assert.deepEqual(
    states.map((state) => exitCodeOf({ ...VIEW, state })),
    [0, 3, 4, 1, 1, 1],
  );
  assert.equal(exitCodeOf({ ...VIEW, state: 'cancelled' }, true), 130);
  assert.equal(exitCodeOf({ ...VIEW, state: 'succeeded' }, true), 0);
});

it('the exit code and the summary of a failed purge are those of a refusal if nothing was deleted', () => {
  const failed = (status: number, counts: Partial<PurgeView> = {}) => {
    const problem = { status, detail: 'Why.' };
    const view: PurgeView = { ...VIEW, state: 'failed', problem, ...counts };
    return [exitCodeOf(view), (summaryOf(view, undefined, NOW)[0] ?? '').split(':', 1)[0]];
  };
  for (const status of [400, 401, 403, 404, 409, 422, 501])
    assert.deepEqual(failed(status), [4, 'Refused'], String(status));
  for (const status of [408, 429, 500, 502, 503, 504])
    assert.deepEqual(failed(status), [1, 'Failed'], String(status));
  assert.deepEqual(failed(404, { alreadyGone: 2, failed: 3 }), [4, 'Refused']);
  assert.deepEqual(failed(404, { deleted: 1 }), [1, 'Failed']);
  assert.deepEqual(failed(404, { unknown: 1 }), [1, 'Failed']);
  assert.equal(failed(404, { target: 'restore', restored: 1 })[0], 1);
  assert.equal(failed(404, { target: 'restore', restored: 0 })[0], 4);
  const cancelled = { ...VIEW, state: 'cancelled', problem: { status: 404 } } as const;
  assert.equal(exitCodeOf(cancelled), 1);
});

/** One bar for each of the counts, a second apart. */
function lines(...deleted: readonly number[]): readonly string[] {
  let nowMs = 0;
  const line = createProgressLine({ now: () => nowMs });
  return deleted.map((count, second) => {
    nowMs = second * 1000;
    return line({ ...VIEW, deleted: count });
  });
}

it('the bar shows progress, rate and remaining time', () => {
  const [first = '', , third = ''] = lines(0, 500, 1000);
  assert.equal(first, `${'·'.repeat(24)} 0/3,000 entities`);
  assert.equal(third, `${'█'.repeat(8)}${'·'.repeat(16)} 1,000/3,000 entities  500/s  4.0 s left`);
});

it('the bar of a purge with a rate limit is relative to all matches, not to those listed so far', () => {
  let nowMs = 0;
  const line = createProgressLine({ now: () => nowMs });
  line({ ...VIEW, matched: 100, expected: 3000, deleted: 0 });
  nowMs = 1000;
  const text = line({ ...VIEW, matched: 1000, expected: 3000, deleted: 1000 });
  assert.equal(text, `${'█'.repeat(8)}${'·'.repeat(16)} 1,000/3,000 entities  1,000/s  2.0 s left`);
});

it('the rate of the bar is that of the last seconds, so that a throttle shows', () => {
  const slow = lines(0, 1000, 2000, 2010, 2020, 2030, 2040, 2050).at(-1) ?? '';
  assert.match(slow, / 10\/s {2}1 min 35 s left$/);
});

it('the bar shows no remaining time without progress, and starts again when a count is corrected', () => {
  assert.doesNotMatch(lines(0, 0, 0).at(-1) ?? '', /left/);
  assert.doesNotMatch(lines(1000, 2000, 1500).at(-1) ?? '', /\/s|left/);
});

it('the bar of a purge that is being cancelled has a rate but no remaining time', () => {
  let nowMs = 0;
  const line = createProgressLine({ now: () => nowMs });
  line({ ...VIEW, deleted: 500 });
  nowMs = 1000;
  const text = line({
    ...VIEW,
    state: 'cancelling',
    deleted: 900,
    alreadyGone: 60,
    failed: 30,
    unknown: 10,
  });
  assert.equal(text, `${'█'.repeat(8)}${'·'.repeat(16)} 1,000/3,000 entities  30 failed  500/s  cancelling`);
});

it('the bar is full, but not longer, if more was done than was counted', () => {
  const line = createProgressLine({ now: () => 0 });
  assert.equal(line({ ...VIEW, matched: 10, deleted: 11 }), `${'█'.repeat(24)} 11/10 entities`);
  assert.equal(line({ ...VIEW, matched: 0, deleted: 11 }), '11/0 entities');
});

it('the bar says that the command waits while no count is known', () => {
  const line = createProgressLine({ now: () => 0 });
  assert.equal(line({ ...VIEW, matched: 0 }), 'looking for matches …');
  assert.equal(line({ ...VIEW, state: 'queued', matched: 0 }), 'queued …');
});
