import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { instantOf, nanosecondsOf, temporalKindOf } from '../../../sidecar/ngsi-ld/q-time.js';
import { words } from '../../support/words.js';

it('different notations of a moment are the same instant', () => {
  const instant = Date.UTC(2020, 1, 29, 12, 0, 0, 500);
  for (const text of words(`
      2020-02-29T12:00:00.5Z 2020-02-29T12:00:00,500Z 2020-02-29T13:00:00.5+01:00 2020-02-29T12:00:00.500
    `)) {
    assert.equal(instantOf(text), instant, text);
  }
  assert.equal(instantOf('2020-02-29'), Date.UTC(2020, 1, 29));
  assert.equal(instantOf('00:00:01Z'), 1000);
  assert.equal(instantOf('2016-12-31T23:59:60Z'), Date.UTC(2016, 11, 31, 23, 59, 59));
});

it('a day or hour that does not exist is not a date or time', () => {
  for (const text of [
    ...words(`
      2021-02-29 2020-00-01 2020-13-01 2020-01-00 24:00:00 12:60:00 20-01-01
    `),
    '',
  ]) {
    assert.equal(temporalKindOf(text), undefined, text);
    assert.equal(instantOf(text), undefined, text);
  }
});

it('the last day, hour, minute and second are accepted, and the next one is not', () => {
  for (const [last, behind] of [
    ['2020-12-31', '2020-12-32'],
    ['2020-04-30', '2020-04-31'],
    ['2021-02-28', '2021-02-29'],
    ['2000-02-29', '1900-02-29'],
    ['0096-02-29', '0097-02-29'],
    ['23:00:00Z', '24:00:00Z'],
    ['12:59:00Z', '12:60:00Z'],
    ['12:59:60Z', '12:59:61Z'],
    ['2020-01-01T23:59:60Z', '2020-01-01T23:59:61Z'],
    ['12:00:00.123456789', '12:00:00.1234567890'],
  ] as const) {
    assert.notEqual(temporalKindOf(last), undefined, last);
    assert.notEqual(instantOf(last), undefined, last);
    assert.equal(temporalKindOf(behind), undefined, behind);
  }
});

it('a date, a time or both must be the whole text', () => {
  for (const [text, kind] of [
    ['2020-01-01', 'date'],
    ['12:00:00+01:00', 'time'],
    ['2020-01-01T12:00:00', 'dateTime'],
  ] as const) {
    assert.equal(temporalKindOf(text), kind);
    for (const more of [`${text} `, ` ${text}`, `x${text}`, `${text}x`, `${text}\n`])
      assert.equal(temporalKindOf(more), undefined, JSON.stringify(more));
  }
});

it('every ISO date-time means the same instant as in JavaScript', () => {
  const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(fc.property(dates, (date) => instantOf(date.toISOString()) === date.getTime()));
});

it('nanosecondsOf keeps each digit of a fraction, also before the epoch', () => {
  assert.equal(nanosecondsOf('1970-01-01T00:00:01.000000001Z'), 1_000_000_001n);
  assert.equal(nanosecondsOf('1970-01-01T01:00:00,5+01:00'), 500_000_000n);
  assert.equal(nanosecondsOf('1969-12-31T23:59:59.999999999Z'), -1n);
  assert.equal(nanosecondsOf('1970-01-02'), 86_400_000_000_000n);
  assert.equal(nanosecondsOf('soon'), undefined);
  const dates = fc.date({ min: new Date('1000-01-01'), max: new Date('9000-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(dates, (date) => nanosecondsOf(date.toISOString()) === BigInt(date.getTime()) * 1_000_000n),
  );
});
