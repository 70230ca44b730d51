import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PurgeContext } from '../../../../sidecar/purge/run/index.js';
import { IdState } from '../../../../sidecar/purge/ledger/index.js';
import { entities, type ListedPage } from '../../../../sidecar/purge/listing/index.js';
import { surveyMatches, type Survey } from '../../../../sidecar/purge/deleting/index.js';
import type { SurveyOptions } from '../../../../sidecar/purge/deleting/survey.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { contextOf } from '../hand-made-context.js';
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

const ID = 'urn:t:0';
const OPTIONS: SurveyOptions = {
  from: 0,
  wanted: Infinity,
  takesFresh: true,
  isBrief: false,
  reportsLingering: false,
};

/** Surveys a broker that shows these pages one after the other. */
async function surveyed(
  pages: readonly (readonly string[])[],
  options: Partial<SurveyOptions> = {},
  prepare: (context: PurgeContext) => void = () => {},
) {
  const total = pages.flat().length;
  const { lister, asked } = listerOf(({ offset = 0 }): ListedPage => {
    let before = 0;
    for (const ids of pages) {
      if (before === offset) return pageOf(ids, { count: total, limit: ids.length });
      before += ids.length;
    }
    return pageOf([], { count: total });
  });
  const context = {
    ...contextOf({ brokerQuery: { resource: entities('ids'), selection: [] }, limits: { concurrency: 1 } }),
    lister,
  };
  prepare(context);
  const survey = await surveyMatches(context, { ...OPTIONS, ...options });
  return { survey, ledger: context.ledger, asked };
}

/** The result of a survey, without how its walk ended. */
const findings = ({ fresh, unseen, reappeared, missing, retryDue, lingering }: Survey) => ({
  fresh,
  unseen,
  reappeared,
  missing,
  retryDue,
  lingering,
});
const NOTHING = { fresh: [], unseen: 0, reappeared: [], missing: [], retryDue: [], lingering: 0 };

const found: Readonly<Record<Exclude<keyof typeof IdState, 'unknown'>, Partial<typeof NOTHING> | object>> = {
  pending: { retryDue: [ID] },
  gone: { reappeared: [ID] },
  absent: { missing: [ID] },
  retryDue: { retryDue: [ID] },
  goneTwice: { reappeared: [ID] },
  absentTwice: { lingering: 1 },
  failed: {},
  madeAgain: {},
};

for (const name of Object.keys(found) as (keyof typeof found)[]) {
  const isTwice = name === 'absentTwice';

  it(`a survey sorts the ids that it lists by their state: ${name}`, async () => {
    for (const takesFresh of [true, false]) {
      const { survey, ledger } = await surveyed([[ID], [ID]], { takesFresh }, (context) =>
        context.ledger.states.set(ID, IdState[name]),
      );
      assert.deepEqual(findings(survey), { ...NOTHING, ...found[name] });
      assert.deepEqual([ledger.states.get(ID), ledger.states.isListed(ID)], [IdState[name], true]);
    }
  });

  it(`a survey records only ids as failed that were reported missing twice and are listed: ${name}`, async () => {
    const { survey, ledger } = await surveyed([[ID]], { reportsLingering: true }, (context) =>
      context.ledger.states.set(ID, IdState[name]),
    );
    assert.equal(survey.lingering, 0);
    assert.equal(ledger.states.get(ID), isTwice ? IdState.failed : IdState[name]);
    assert.deepEqual(
      ledger.errors.map(({ entityId, error }) => [entityId, error.status, error.title]),
      isTwice ? [[ID, 409, 'Entity still listed']] : [],
    );
  });
}

it('a survey counts each new id once, and returns it if requested', async () => {
  for (const takesFresh of [true, false]) {
    const { survey, ledger } = await surveyed([['urn:a', 'urn:b'], ['urn:b', 'urn:c'], ['urn:a']], {
      takesFresh,
    });
    assert.deepEqual(findings(survey), {
      ...NOTHING,
      unseen: 3,
      fresh: takesFresh ? ['urn:a', 'urn:b', 'urn:c'] : [],
    });
    assert.equal(ledger.matched, 0, 'nothing is taken yet');
  }
});

it('a survey ignores what an earlier survey listed', async () => {
  const { ledger } = await surveyed([[]], {}, ({ ledger: { states } }) => {
    states.set(ID, IdState.failed);
    states.startSurvey();
    states.markListed(ID);
  });
  assert.equal(ledger.states.isListed(ID), false);
});

it('a survey stops once it has enough new ids, and is then not complete', async () => {
  const pages = [idsOf(10), ['urn:more:1'], ['urn:more:2']];
  for (const [wanted, queries, isComplete] of [
    [9, 1, false],
    [10, 1, false],
    [11, 2, false],
    [Infinity, 4, true],
  ] as const) {
    const { survey, asked } = await surveyed(pages, { wanted });
    assert.deepEqual([asked.length, survey.complete], [queries, isComplete], String(wanted));
  }
});

it('a survey holds at most 32,000 ids of a kind, and counts all that are listed again', async () => {
  const all = idsOf(40_000);
  const pages = [0, 1, 2, 3, 4].map((page) => all.slice(page * 8000, (page + 1) * 8000));
  for (const state of [IdState.unknown, IdState.gone, IdState.retryDue, IdState.absent]) {
    const { survey, asked } = await surveyed(pages, {}, ({ ledger: { states } }) => {
      if (state !== IdState.unknown) for (const id of all) states.set(id, state);
    });
    const { fresh, reappeared, missing, retryDue } = survey;
    assert.equal(fresh.length + reappeared.length + missing.length + retryDue.length, 32_000);
    assert.equal(survey.reappearedCount, state === IdState.gone ? 40_000 : 0);
    // New ids are taken before more are listed.
    assert.equal(survey.complete, state !== IdState.unknown);
    if (state === IdState.unknown) assert.equal(asked.length, 4);
  }
});

it('a survey that skips new ids ends even if they arrive as fast as they are listed, and reports them as arrivals', async () => {
  const { lister } = listerOf(({ offset = 0 }) =>
    pageOf(
      Array.from({ length: 2000 }, (_, index) => `urn:t:${offset + index}`),
      { limit: 2000 },
    ),
  );
  for (const taken of [0, 10_000]) {
    const opened = contextOf({ brokerQuery: { resource: entities('ids'), selection: [] } });
    opened.ledger.addNew(Array.from({ length: taken }, (_, index) => `urn:gone:${index}`));
    const survey = await surveyMatches({ ...opened, lister }, { ...OPTIONS, takesFresh: false });
    assert.deepEqual([survey.complete, survey.trickles], [false, true]);
    assert.ok(survey.unseen > 32_000 + taken && survey.unseen <= 34_000 + taken, String(survey.unseen));
  }
});

it('a survey starts with a page that was fetched before, or at an offset', async () => {
  const pages = [idsOf(3), ['urn:more']];
  const known = await surveyed(pages, { first: pageOf(idsOf(3), { count: 4, limit: 3 }) });
  assert.deepEqual([known.survey.fresh.length, known.asked[0]?.offset], [4, 3]);
  const behind = await surveyed(pages, { from: 3 });
  assert.deepEqual([behind.survey.fresh, behind.asked[0]?.offset], [['urn:more'], 3]);
});

/** Surveys a hundred matches, ten on a page, at a broker that answers when it is idle. */
async function overlapped(concurrency: number, options: Partial<SurveyOptions> = {}) {
  let [underWay, most] = [0, 0];
  const { lister, asked } = listerOf(({ offset = 0 }) =>
    pageOf(idsOf(100).slice(offset, offset + 10), { count: 100 }),
  );
  const opened = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    limits: { concurrency },
  });
  const page: typeof lister.page = async (query) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return lister.page(query);
  };
  const survey = await surveyMatches({ ...opened, lister: { ...lister, page } }, { ...OPTIONS, ...options });
  return { survey, most, asked: asked.length };
}

it('a survey requests as many pages at a time as the purge may have requests in flight', async () => {
  for (const concurrency of [1, 3]) {
    const { most, survey } = await overlapped(concurrency);
    assert.deepEqual([most, survey.fresh.length, survey.complete], [concurrency, 100, true]);
  }
});

it('a survey stops reading soon after it has the items it needs', async () => {
  const { asked, survey } = await overlapped(4, { wanted: 25 });
  assert.ok(survey.fresh.length >= 25 && asked <= 4, `${survey.fresh.length} found in ${asked} pages`);
});

it('a survey ends after a second of listing if it is brief, or if it only found ids that were tried before', async () => {
  for (const [isBrief, isKnown, pages] of [
    [true, false, 3],
    [true, true, 3],
    [false, true, 3],
    [false, false, 11],
  ] as const) {
    const clock = createTestClock();
    const { lister, asked } = listerOf(({ offset = 0 }) =>
      pageOf(idsOf(100).slice(offset, offset + 10), { count: 100, atMs: clock.monotonicMs() }),
    );
    const page: typeof lister.page = async (query) => {
      await clock.sleep(600);
      return lister.page(query);
    };
    const resource = entities('ids');
    const opened = contextOf({ brokerQuery: { resource, selection: [] }, limits: { concurrency: 1 }, clock });
    if (isKnown) for (const id of idsOf(100)) opened.ledger.states.set(id, IdState.retryDue);
    const context = { ...opened, lister: { ...lister, page } };
    const survey = await surveyMatches(context, { ...OPTIONS, isBrief });
    const of = `brief: ${isBrief}, tried before: ${isKnown}`;
    assert.deepEqual([asked.length, survey.complete], [pages, pages === 11], of);
  }
});
