import assert from 'node:assert/strict';
import { it } from 'node:test';
import { datasetParameter } from '../../../../sidecar/purge/attributes/index.js';
import { datasetsOf } from '../../../../sidecar/purge/attributes/item-delete.js';

it('datasetsOf names each dataset once, and the instances without a dataset as @none', () => {
  const instance = (datasetId?: unknown) => ({ type: 'Property', value: 1, datasetId });
  assert.deepEqual(datasetsOf(instance()), ['@none']);
  assert.deepEqual(datasetsOf(instance('urn:d:1')), ['urn:d:1']);
  assert.deepEqual(datasetsOf([instance('urn:d:1'), instance(), instance('urn:d:1'), instance('')]), [
    'urn:d:1',
    '@none',
  ]);
  for (const odd of [7, null, 'text', [null]]) assert.deepEqual(datasetsOf(odd), ['@none']);
});

it('datasetParameter is the percent-encoded query for one dataset, and empty for the instances without a dataset', () => {
  assert.equal(datasetParameter('@none'), '');
  assert.equal(datasetParameter('urn:ngsi-ld:ds:1'), '?datasetId=urn%3Angsi-ld%3Ads%3A1');
  assert.equal(datasetParameter('https://ds.example/a/1'), '?datasetId=https%3A%2F%2Fds.example%2Fa%2F1');
  assert.equal(datasetParameter('urn:x/.a/..b/c'), '?datasetId=urn%3Ax%2F.a%2F..b%2Fc');
  assert.equal(datasetParameter('urn:größe'), '?datasetId=urn%3Agr%C3%B6%C3%9Fe');
});

it('datasetParameter is undefined for a datasetId that could be read as another one, or as another parameter', () => {
  for (const datasetId of [
    'urn:x&deleteAll=true',
    'urn:x%26deleteAll=true',
    'urn:x=1',
    'urn:x#1',
    'urn:x;1',
    'urn:x?1',
    'urn:x+1',
    'urn:x,urn:y',
    'urn:x\\1',
    'urn:x ',
    'urn:x\n',
    'urn:x/',
    'urn:x.',
    'urn:x/../y',
    'urn:x/./y',
    'urn:x＆a＝b',
    'urn:x／y',
    'urn:ａ',
    '',
    '\ud800',
    'urn:x\u0000',
  ]) {
    assert.equal(datasetParameter(datasetId), undefined, JSON.stringify(datasetId));
  }
});
