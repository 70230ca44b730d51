import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { openConsole, startBrowser } from '../support/browser.js';
import { ensureCliBuilt } from '../support/cli-process.js';
import { checkAccess } from '../support/console/access.js';
import { endFlow, tabTo } from '../support/console/flow.js';
import { formFlows } from '../support/console/form-flow.js';
import { listFlows } from '../support/console/list-flow.js';
import { modelFlows } from '../support/console/model-flow.js';
import { modelListFlows } from '../support/console/model-list-flow.js';
import { modelShownFlows } from '../support/console/model-shown-flow.js';
import { policyFlows } from '../support/console/policy-flow.js';
import { qualityFlows } from '../support/console/quality-flow.js';
import { referenceFlows } from '../support/console/reference-flow.js';
import { signInFlows } from '../support/console/sign-in-flow.js';
import { runFlows } from '../support/console/run-flow.js';
import { workbenchFlows } from '../support/console/workbench-flow.js';
import {
  PATIENT,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { isDelete, relayTo, startRecordingBroker, type RecordedAnswer } from '../support/recording-broker.js';
import { Waiting } from '../support/waiting.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { words } from '../support/words.js';

after(stopAll);

const car = (index: number) => ({
  id: `urn:ngsi-ld:Car:${String(index).padStart(4, '0')}`,
  type: 'Car',
  speed: { type: 'Property', value: index },
});

/** Holds deletes back until they are let through, a given number at a time. */
class Turnstile {
  readonly #waiting = new Waiting();
  #left = 0;

  let(more: number): void {
    this.#left += more;
    this.#waiting.notify();
  }

  async pass(): Promise<void> {
    await this.#waiting.until(() => (this.#left > 0 ? (this.#left -= 1) + 1 : undefined));
  }
}

interface World {
  readonly broker: EmbeddedBroker;
  readonly gateway: TestGateway;
  readonly turnstile: Turnstile;
}

/**
 * Starts a gateway whose broker has cars. Deletes go in batches of ten, and each batch is held
 * until the test lets it through.
 */
async function withHeldCars(
  cars: number,
  env: Readonly<Record<string, string>> = {},
  answer: (relay: () => Promise<RecordedAnswer>) => Promise<RecordedAnswer> = async (relay) => relay(),
): Promise<World> {
  const broker = await startTestBroker();
  broker.entities.seed(cars, car);
  const relay = relayTo(broker);
  const turnstile = new Turnstile();
  const held = await startRecordingBroker(async (request) => {
    if (isDelete(request)) {
      await turnstile.pass();
      return answer(async () => relay(request));
    }
    return relay(request);
  });
  const settings = { PURGE_BATCH_SIZE: '10', PURGE_CONCURRENCY: '1', LOG_LEVEL: 'silent' };
  const gateway = await startTestGateway({ BROKER_URL: held.url, ...settings, ...PATIENT, ...env });
  return { broker, gateway, turnstile };
}

/** Enters a type and confirms the purge of its matches; afterwards the page shows the purge. */
async function startPurge(page: Page, type: string, cars: number): Promise<void> {
  await page.getByLabel('Type', { exact: true }).fill(type);
  await page.getByRole('button', { name: `Purge ${cars} entities…` }).click();
  await page.getByLabel(/^Type the count/).fill(String(cars));
  await page.getByRole('button', { name: `Delete ${cars}` }).click();
  await page.waitForURL(/#\/purge\/[^?]+$/);
}

const carsLeft = async ({ gateway }: World) => {
  const { headers } = await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car&limit=1&count=true');
  return Number(headers.get('ngsild-results-count'));
};

// Tests run concurrently because most of their time is waiting for the page.
describe('the console in a browser', { concurrency: 3 }, () => {
  let browser: Browser;

  before(async () => {
    await ensureCliBuilt();
    browser = await startBrowser();
  });

  for (const flows of [formFlows, listFlows, policyFlows, qualityFlows, runFlows, signInFlows])
    flows(() => browser);
  for (const flows of [modelFlows, modelListFlows, modelShownFlows, referenceFlows, workbenchFlows])
    flows(() => browser);

  it('a purge runs from its preview to its end, deletes nothing before it is confirmed, and is in the history', async () => {
    const world = await withHeldCars(35);
    const tab = await openConsole(browser, world.gateway.url);
    const { page } = tab;
    await page.getByLabel('Type', { exact: true }).fill('Car');
    await page.getByLabel('Query (q)').fill('speed<30');
    await page.getByText('30 entities match now').first().waitFor();
    assert.match(await page.locator('pre.request').innerText(), /type=Car&q=speed%3C30/);
    await page.getByText('urn:ngsi-ld:Car:0029').waitFor();
    await page.getByRole('button', { name: 'Purge 30 entities…' }).click();
    const go = page.getByRole('button', { name: 'Delete 30' });
    assert.ok(await go.isDisabled());
    await page.getByLabel(/^Type the count/).fill('31');
    assert.ok(await go.isDisabled());
    await page.getByLabel(/^Type the count/).fill('30');
    assert.equal(await carsLeft(world), 35);
    await go.click();
    world.turnstile.let(1);
    await page.getByText('10 of 30 entities').waitFor();
    world.turnstile.let(100);
    await page.getByRole('heading', { name: 'Purge' }).locator('..').getByText('succeeded').waitFor();
    await page.getByText('30 of 30 entities').waitFor();
    assert.equal(await carsLeft(world), 5);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('link', { name: 'type=Car&q=speed<30', exact: true }).click();
    await page.getByRole('link', { name: 'Run again…' }).click();
    assert.equal(await page.getByLabel('Query (q)').inputValue(), 'speed<30');
    await page.getByText('Nothing matches.').waitFor();
    await endFlow(tab);
  });

  it('a purge is archived by default if archives are configured, and its page previews and starts its restore', async () => {
    const folder = temporaryFolder();
    const world = await withHeldCars(5, { ARCHIVE_URL: pathToFileURL(folder).href });
    world.turnstile.let(100);
    const tab = await openConsole(browser, world.gateway.url);
    const { page } = tab;
    await page.getByText('archive=required').first().waitFor();
    assert.equal(await page.locator('.copyable').count(), 0);
    await startPurge(page, 'Car', 5);
    await page.getByText('5 entities archived').waitFor();
    assert.equal(await carsLeft(world), 0);
    world.broker.entities.seed(1, (index) => ({ ...car(index), speed: { type: 'Property', value: 'new' } }));
    await page.getByRole('button', { name: 'Preview a restore' }).click();
    await page.getByText('4 entities would be restored. 1 already exist').waitFor();
    await page.getByRole('button', { name: 'Restore 4 entities' }).click();
    await page.getByRole('heading', { name: 'Restore', exact: true }).waitFor();
    await page.getByText('succeeded', { exact: true }).waitFor();
    assert.equal(await carsLeft(world), 5);
    await page.getByRole('link', { name: 'Restores what this purge deleted' }).click();
    await page.getByRole('button', { name: 'Erase the archive…' }).click();
    await page.getByRole('button', { name: 'Erase the archive', exact: true }).click();
    await page.getByText('The archive was erased at').waitFor();
    await endFlow(tab);
  });

  it('a purge survives a reload, and another tab cancels it', async () => {
    const world = await withHeldCars(40);
    const tab = await openConsole(browser, world.gateway.url);
    await startPurge(tab.page, 'Car', 40);
    world.turnstile.let(1);
    await tab.page.getByText('10 of 40 entities').waitFor();
    await tab.page.reload();
    await tab.page.getByText('10 of 40 entities').waitFor();
    await tab.page.getByText('Matched so far').waitFor();
    const other = await openConsole(browser, world.gateway.url, new URL(tab.page.url()).hash);
    await other.page.getByRole('button', { name: 'Cancel the purge' }).click();
    await tab.page.getByText('cancelling', { exact: true }).waitFor();
    world.turnstile.let(100);
    for (const { page } of [tab, other]) await page.getByText('cancelled', { exact: true }).waitFor();
    await tab.page.getByText('Matched', { exact: true }).waitFor();
    // The number in flight depends on how long the first batches took.
    const left = await carsLeft(world);
    assert.ok(left >= 20 && left <= 30, String(left));
    const id = new URL(tab.page.url()).hash.slice('#/purge/'.length);
    const record = (await world.gateway.send('GET', `/api/v2/purges/${id}`)).json() as {
      deleted: number;
    };
    assert.equal(record.deleted, 40 - left);
    await endFlow(tab);
    await endFlow(other);
  });

  it('a purge continues when the user leaves its page, and the slider throttles it', async () => {
    const world = await withHeldCars(30);
    const { page } = await openConsole(browser, world.gateway.url);
    await startPurge(page, 'Car', 30);
    const slider = page.getByLabel('Limit per second (maxPerSecond)');
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('Limited to 10,000/s.').waitFor();
    const id = new URL(page.url()).hash.slice('#/purge/'.length);
    const record = (await world.gateway.send('GET', `/api/v2/purges/${id}`)).json() as {
      maxPerSecond: number;
    };
    assert.equal(record.maxPerSecond, 10_000);
    await page.close();
    world.turnstile.let(100);
    const events = await world.gateway.send('GET', `/api/v2/purges/${id}/events`);
    assert.match(events.text, /"state":"succeeded"/);
    assert.equal(await carsLeft(world), 0);
  });

  it('a broker that fails in the middle of a purge is shown with its own message and the deletes before it', async () => {
    let batches = 0;
    const world = await withHeldCars(40, { RETRY_MAX_ATTEMPTS: '1' }, async (relay) => {
      batches += 1;
      if (batches === 1) return relay();
      const body = JSON.stringify({
        type: 'about:blank',
        title: 'disk <full>',
        detail: '<img src=x onerror=reportFault(1)>',
      });
      return { status: 500, headers: { 'content-type': 'application/problem+json' }, body };
    });
    const tab = await openConsole(browser, world.gateway.url);
    world.turnstile.let(1000);
    await startPurge(tab.page, 'Car', 40);
    await tab.page.getByText(/^(?:failed|partial)$/).waitFor();
    const deleted = tab.page.locator('.counts div', { hasText: /^Deleted/ });
    assert.equal(await deleted.locator('dd').innerText(), '10');
    assert.equal(await tab.page.locator('main img').count(), 0);
    await endFlow(tab);
  });

  it('hostile ids, names, hints, problems and descriptions are shown as text on every page', async () => {
    const markup = '<img src=x onerror=reportFault(1)><b>bold</b>';
    const { gateway } = await withHeldCars(0);
    const tab = await openConsole(browser, gateway.url, '#/elsewhere');
    const { page } = tab;
    const json = (body: unknown, status = 200) => ({
      status,
      contentType: 'application/json',
      body: JSON.stringify(body),
    });
    const error = { type: 'about:blank', title: markup, status: 400, detail: markup };
    const real = (await gateway.purge('type=Car&dryRun=true')).headers.get('purge-id') ?? '';
    const record = {
      ...((await gateway.send('GET', `/api/v2/purges/${real}`)).json() as object),
      id: markup,
      state: 'partial',
      query: markup,
      tenant: markup,
      caller: markup,
      worker: markup,
      link: markup,
      dryRun: false,
      failed: 1,
      retentionPolicy: markup,
      policy: { a: markup },
      warnings: [markup],
      errors: [{ entityId: markup, attribute: markup, error }],
      problem: { ...error, broker: error },
      sample: [markup],
    };
    const policy = {
      name: markup,
      target: 'entities',
      query: markup,
      olderThan: markup,
      by: markup,
      schedule: markup,
      timeZone: markup,
      mode: 'report',
      enabled: true,
      description: markup,
      caller: markup,
      tenant: markup,
      maxGrowth: 3,
      createdAt: markup,
      modifiedAt: markup,
    };
    const lesson = { collection: 'entities', kind: 'limit', name: markup, detail: markup, learntAt: markup };
    const status = { status: 'up', broker: 'up', database: 'up', learnt: [lesson] };
    await page.route('**/ngsi-ld/v1/**', (route) =>
      route.fulfill(json({ matched: 2, sample: [markup], hints: [markup] })),
    );
    await page.route('**/api/v2/**', (route) => {
      const path = new URL(route.request().url()).pathname;
      if (path.endsWith('/events'))
        return route.fulfill({
          contentType: 'text/event-stream',
          body: `data: ${JSON.stringify(record)}\n\n`,
        });
      if (path.endsWith('/status')) return route.fulfill(json(status));
      if (path.endsWith('/preview')) return route.fulfill(json({ ...error, broker: error }, 400));
      if (path.endsWith('/purges') || path.endsWith('/runs')) return route.fulfill(json([record]));
      return route.fulfill(json(path.endsWith('/retention-policies') ? [policy] : policy));
    });
    const encoded = encodeURIComponent(markup);
    for (const hash of [
      `purge?query=type%3D${encoded}&tenant=${encoded}&link=${encoded}`,
      `purge/${encoded}`,
      'history',
      'overview',
      `history?tenant=${encoded}&caller=${encoded}`,
      'retention',
      `retention/${encoded}`,
      `retention/${encoded}/edit`,
    ]) {
      // Nothing of the page before may be mistaken for this page.
      await page.goto('about:blank');
      await page.goto(`${gateway.url}/console/#/${hash}`);
      const shown = hash.endsWith('/edit')
        ? page.locator('main input').first()
        : page.locator('main').getByText(markup).first();
      await shown.waitFor();
      assert.equal(await page.locator('img, b').count(), 0, hash);
    }
    await endFlow(tab);
  });

  it('the policy of the page blocks an injected script and an injected style, and the tests notice', async () => {
    const { gateway } = await withHeldCars(0);
    const tab = await openConsole(browser, gateway.url);
    await tab.page.evaluate(
      "for (const [name, text] of [['script', 'window.ran = 1'], ['style', 'body{}']])" +
        ' document.head.append(Object.assign(document.createElement(name), { textContent: text }));',
    );
    const refused = ['script-src-elem', 'style-src-elem'];
    await tab.until(
      () => refused.every((name) => tab.faults.some((fault) => fault.startsWith(name))) || undefined,
    );
    assert.equal(await tab.page.evaluate('window.ran'), undefined);
  });

  it('the token is requested when it is needed, kept only in the tab, and never shown', async () => {
    const token = 'token-of-console';
    const { gateway } = await withHeldCars(3, { GATEWAY_TOKEN: token });
    const tab = await openConsole(browser, gateway.url, '#/history');
    const { page } = tab;
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Gateway token required').waitFor();
    await page.getByRole('button', { name: 'Enter the token' }).click();
    await page.getByLabel('Token', { exact: true }).fill('wrong-token');
    await page.keyboard.press('Enter');
    await page.getByText('in this tab was not accepted').waitFor();
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
    await page.getByText('There are no purges yet.').waitFor();
    await page.getByRole('link', { name: 'Purge', exact: true }).click();
    // The history has a field with this label as well.
    await page.getByRole('heading', { name: 'Preview' }).waitFor();
    await page.getByLabel('Type', { exact: true }).fill('Car');
    await page.getByText('3 entities match now').first().waitFor();
    assert.ok(!(await page.content()).includes(token));
    assert.ok(!page.url().includes(token));
    const kept = await page.evaluate(
      '[JSON.stringify(localStorage), document.cookie, sessionStorage.length]',
    );
    assert.deepEqual(kept, ['{}', '', 1]);
    const other = await openConsole(browser, gateway.url, '#/history');
    await other.page.getByRole('dialog').waitFor();
    await endFlow(tab);
  });

  it('a gateway that refuses or is unavailable is shown as such, with a way to try again', async () => {
    const { gateway } = await withHeldCars(3);
    const { page } = await openConsole(browser, gateway.url, '#/overview');
    await page.getByText('There are no active purges.').waitFor();
    for (const [status, title] of [
      [403, 'Not allowed'],
      [404, 'Not to be found'],
      [503, 'Temporarily unavailable'],
    ] as const) {
      await page.route('**/api/v2/**', (route) =>
        route.fulfill({
          status,
          contentType: 'application/problem+json',
          body: '{"title": "Not to be found", "detail": "Why."}',
        }),
      );
      for (const place of words('history retention models models/~contexts models/City models/City/Car')) {
        await page.goto(`${gateway.url}/console/#/${place}`);
        await page.getByRole('alert').getByText(title).first().waitFor();
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
    await page.context().setOffline(true);
    // The history tries again by itself, the policies only on request.
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    await page.context().setOffline(false);
    await page.getByText('There are no purges yet.').waitFor();
    for (const [section, sign] of [
      ['Retention', 'There are no retention policies yet.'],
      ['Models', 'There are no domains yet.'],
    ] as const) {
      await page.context().setOffline(true);
      await page.getByRole('link', { name: section }).click();
      await page.getByRole('alert').getByText('cannot be reached').waitFor();
      await page.context().setOffline(false);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(sign).waitFor();
    }
  });

  it('a purge can be started with the keyboard alone', async () => {
    const world = await withHeldCars(5);
    world.turnstile.let(100);
    const { page } = await openConsole(browser, world.gateway.url);
    await tabTo(page, /^Type$/);
    await page.keyboard.type('Car');
    await page.getByText('5 entities match now').first().waitFor();
    await tabTo(page, /^Purge 5 entities…$/);
    await page.keyboard.press('Enter');
    await page.getByLabel(/^Type the count/).waitFor();
    await tabTo(page, /^Type the count/);
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await page.getByText('5 of 5 entities').waitFor();
    assert.equal(await carsLeft(world), 0);
  });

  it('a retention policy is created, viewed, and enforced after its name was typed', async () => {
    const { gateway } = await withHeldCars(3);
    const tab = await openConsole(browser, gateway.url, '#/retention');
    const { page } = tab;
    await page.getByRole('link', { name: 'New policy' }).first().click();
    for (const [label, value] of [
      ['Name', 'old-cars'],
      ['Query', 'type=Car'],
      ['Time zone', 'America/New_York'],
    ] as const)
      await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole('button', { name: 'Save (report only)' }).click();
    await page.getByText('In America/New_York').waitFor();
    await page.getByText('0 entities would be deleted now').waitFor();
    await page.getByRole('button', { name: 'Enforce…' }).click();
    const go = page.getByRole('button', { name: 'Enforce', exact: true });
    await page.getByText('A run now would delete 0 entities.').waitFor();
    assert.ok(await go.isDisabled());
    await page.getByLabel(/^Type the name/).fill('old-cars');
    await go.click();
    await page.getByText('deletes', { exact: true }).waitFor();
    const kept = (await gateway.send('GET', '/api/v2/retention-policies/old-cars')).json() as {
      mode: string;
    };
    assert.equal(kept.mode, 'enforce');
    await page.getByRole('button', { name: 'Run now' }).click();
    assert.ok(await page.getByRole('button', { name: 'Delete now' }).isDisabled());
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Report only' }).click();
    await page.getByRole('button', { name: 'Report now' }).click();
    await page.getByRole('heading', { name: 'Dry run' }).waitFor();
    await endFlow(tab);
  });

  it('no page has a serious accessibility fault, and none is wider than a phone', async () => {
    const world = await withHeldCars(30);
    await world.gateway.sendJson('PUT', '/api/v2/retention-policies/old-cars', {
      target: 'entities',
      query: 'type=Car',
      olderThan: 'P1D',
      by: 'modifiedAt',
      schedule: '0 3 * * *',
    });
    const tab = await openConsole(browser, world.gateway.url);
    const { page } = tab;
    await startPurge(page, 'Car', 30);
    world.turnstile.let(1);
    await page.getByText('10 of 30 entities').waitFor();
    await checkAccess(page);
    const circle = 'type=Car&georel=near;maxDistance==5000&geometry=Point&coordinates=[1,2]';
    for (const [hash, sign] of [
      [`#/purge?query=${encodeURIComponent(circle)}`, 'Nothing matches.'],
      ['#/purge?target=temporal&query=q%3Dx', 'Time property'],
      ['#/history', 'Requested'],
      ['#/retention', 'old-cars'],
      ['#/retention/old-cars', 'would be deleted now'],
      ['#/retention/+', 'Save (report only)'],
      ['#/models', 'There are no domains yet.'],
      ['#/workbench', 'Paste an entity'],
      ['#/workbench/jsonld', 'Compacted'],
      ['#/overview', 'No purge has failed recently.'],
      ['#/quality', 'There are no scans yet.'],
      ['#/elsewhere', 'Nothing here'],
      ['#/purge/none', 'Full response'],
      ['#/quality/none', 'Full response'],
      ['#/quality/writes/none', 'Full response'],
      ['#/retention/none', 'Full response'],
      ['#/models/City/None', 'Full response'],
      ['#/models/None', 'Full response'],
      ['#/models/~contexts/none', 'Full response'],
      ['#/models/~references/urn%3Anone', 'Full response'],
    ] as const) {
      await page.goto(`${world.gateway.url}/console/${hash}`);
      await page.getByText(sign).first().waitFor();
      await checkAccess(page);
    }
    await page.goto(`${world.gateway.url}/console/#/purge?query=type%3DCar`);
    await page.getByRole('button', { name: /^Purge \d+ entities…/ }).click();
    await checkAccess(page);
    await endFlow(tab);
    world.turnstile.let(100);
  });
});
