import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isoDuration } from '../../../sidecar/cli/purge-command.js';

it('--older-than accepts short forms, and passes ISO 8601 durations on unchanged', () => {
  for (const [text, duration] of [
    ['90d', 'P90D'],
    ['12h', 'PT12H'],
    ['30min', 'PT30M'],
    ['45s', 'PT45S'],
    ['2w', 'P2W'],
    ['25mo', 'P25M'],
    ['1y', 'P1Y'],
    ['P1Y2M3DT4H5M6S', 'P1Y2M3DT4H5M6S'],
  ] as const)
    assert.equal(isoDuration(text), duration);
});

it('--older-than refuses ambiguous text and text that is not a duration', () => {
  for (const text of ['90', '5m', '-1d', '1.5d', '1 d', 'yesterday', '', '9999999d'])
    assert.throws(() => isoDuration(text), { exitCode: 2 }, text);
});
