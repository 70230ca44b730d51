import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import { ConfirmPurge } from '../../../console/purge/confirm.js';
import { EMPTY_FORM, type PurgeForm } from '../../../console/purge/form.js';
import { PreviewPane } from '../../../console/purge/preview.js';
import { PreviewDialog } from '../../../console/retention/policy-preview.js';
import { text } from '../../../console/strings.js';
import { openTab, problem } from './open-tab.js';

const formOf = (type: string, more: Partial<PurgeForm['fields']> = {}): PurgeForm => ({
  ...EMPTY_FORM,
  fields: { type, ...more },
});

describe('confirmations before a delete', () => {
  const page = openTab();

  describe('the question before a purge', () => {
    const t = text.confirm;
    const ask = async (preview: { matched: number; atLeast?: boolean }, form = formOf('Car')) => {
      let closed = 0;
      const onClose = () => (closed += 1);
      const dialog = await page.open(
        h(ConfirmPurge, { form, preview: { ...preview, unit: 'entities' }, onClose }),
      );
      return { dialog, closed: () => closed };
    };

    it('a purge starts only after its count was typed, with the count as its bound', async () => {
      page.answer = () => Response.json({ id: 'p-1' }, { status: 202 });
      const { dialog, closed } = await ask({ matched: 12 });
      for (const typed of ['', '1', '13', '120']) {
        await dialog.type(t.type(12), typed);
        await dialog.submit();
        assert.deepEqual([dialog.buttons.includes(`(${t.go} 12)`), page.sent.length], [true, 0], typed);
      }
      await dialog.type(t.type(12), '12');
      await dialog.press(`${t.go} 12`);
      assert.deepEqual(page.lines, ['DELETE ngsi-ld/v1/entities?type=Car&maxAffected=12']);
      assert.deepEqual([closed(), page.location.hash], [1, '#/purge/p-1']);
    });

    it('a purge starts without a bound if the box is unticked, and with its own bound if it has one', async () => {
      page.answer = () => Response.json({ id: 'p-1' }, { status: 202 });
      const free = await ask({ matched: 3 });
      await free.dialog.tick(t.bound(3), false);
      await free.dialog.type(t.type(3), '3');
      await free.dialog.press(`${t.go} 3`);
      const own = await ask({ matched: 3 }, formOf('Car', { maxAffected: '5' }));
      assert.equal(own.dialog.text.includes(t.bound(3)), false);
      await own.dialog.type(t.type(3), '3');
      await own.dialog.press(`${t.go} 3`);
      assert.deepEqual(page.lines, [
        'DELETE ngsi-ld/v1/entities?type=Car',
        'DELETE ngsi-ld/v1/entities?type=Car&maxAffected=5',
      ]);
    });

    it('a purge is started once, however often the form is submitted, and again after a refusal', async () => {
      let answer: (response: Response) => void = () => undefined;
      page.answer = () => new Promise<Response>((resolve) => (answer = resolve));
      const { dialog, closed } = await ask({ matched: 3 });
      await dialog.type(t.type(3), '3');
      await dialog.submit();
      await dialog.submit();
      assert.deepEqual([page.sent.length, dialog.buttons], [1, [`(${text.state.working})`, `(${t.cancel})`]]);
      // The purge may have begun, and closing the question would not stop it.
      await dialog.press(t.cancel);
      assert.equal(closed(), 0);
      await dialog.act(() => answer(problem(409, { title: 'Too many' })));
      assert.deepEqual([closed(), dialog.text.includes('Too many')], [0, true]);
      await dialog.press(`${t.go} 3`);
      assert.equal(page.sent.length, 2);
      await dialog.act(() => answer(Response.json({ id: 'p-2' })));
      assert.equal(closed(), 1);
    });
  });

  describe('the preview of a purge', () => {
    const t = text.preview;

    it('a form that is changed while its matches are counted again does not change what is asked about', async () => {
      page.answer = () => previewOf(12);
      const pane = await page.open(h(PreviewPane, { form: formOf('Car') }));
      const answers = page.hold();
      await pane.press(t.start(12, 'entities'));
      assert.deepEqual(pane.buttons, [`(${t.counting})`]);
      await pane.give(h(PreviewPane, { form: formOf('Bus') }));
      await pane.act(() => answers[0]?.(problem(503, { title: 'No plan' })));
      assert.match(pane.text, /DELETE \S+type=Car&maxAffected=12/);
      await pane.type(text.confirm.type(12), '12');
      await pane.submit();
      assert.equal(page.lines.at(-1), 'DELETE ngsi-ld/v1/entities?type=Car&maxAffected=12');
    });
    const previewOf = (matched: number) => Response.json({ matched, sample: [] });

    it('a purge whose matches are gone by the second count is not offered any more', async () => {
      page.answer = () => previewOf(5);
      const pane = await page.open(h(PreviewPane, { form: formOf('Car') }));
      page.serve({
        POST: () => Response.json({ id: 'p-1', state: 'succeeded', matched: 0, plan: { items: 0 } }),
        DELETE: () => previewOf(0),
      });
      await pane.press(t.start(5, 'entities'));
      assert.deepEqual([pane.buttons, pane.text.includes(t.none)], [[], true]);
    });

    it('a purge is offered only for the count of the current form', async () => {
      page.answer = () => previewOf(2);
      const pane = await page.open(h(PreviewPane, { form: formOf('Car') }));
      assert.deepEqual(page.lines, ['DELETE ngsi-ld/v1/entities?type=Car&dryRun=true']);
      assert.deepEqual(pane.buttons, [t.start(2, 'entities')]);
      page.answer = () => previewOf(7);
      await pane.give(h(PreviewPane, { form: formOf('Bus') }));
      assert.deepEqual([pane.buttons, pane.text.includes(t.outdated)], [[], true]);
      await pane.pass(449);
      assert.equal(page.sent.length, 1);
      await pane.pass(1);
      assert.deepEqual(pane.buttons, [t.start(7, 'entities')]);
    });

    it('no purge is offered if nothing matches, or if the count was refused', async () => {
      page.answer = () => previewOf(0);
      const pane = await page.open(h(PreviewPane, { form: formOf('Car') }));
      await pane.pass(450);
      assert.deepEqual([pane.buttons, pane.text.includes(t.none)], [[], true]);
      page.answer = () => problem(400, { title: 'Bad query' });
      await pane.give(h(PreviewPane, { form: formOf('Bus') }));
      await pane.pass(450);
      assert.deepEqual(pane.buttons, [text.state.retry]);
      page.answer = () => previewOf(4);
      await pane.press(text.state.retry);
      await pane.pass(450);
      assert.deepEqual(pane.buttons, [t.start(4, 'entities')]);
    });

    it('a form that selects nothing, or cannot be sent, is not counted', async () => {
      const pane = await page.open(h(PreviewPane, { form: EMPTY_FORM }));
      assert.ok(pane.text.includes(t.empty));
      await pane.give(h(PreviewPane, { form: { ...formOf('Car'), tenant: 'Ж' } }));
      assert.ok(pane.text.includes(t.unsendable));
      await pane.pass(10_000);
      assert.equal(page.sent.length, 0);
    });
  });

  describe('the question before a policy deletes', () => {
    const t = text.retention;
    const dialogOf = (onConfirm: () => Promise<unknown>) =>
      h(PreviewDialog, {
        name: 'old',
        title: 'T',
        message: 'W',
        confirm: 'Go',
        onClose: () => undefined,
        onConfirm,
      });

    it('a policy deletes only after its preview was shown and its name typed', async () => {
      let give: (response: Response) => void = () => undefined;
      page.answer = () => new Promise<Response>((resolve) => (give = resolve));
      let done = 0;
      const dialog = await page.open(dialogOf(async () => (done += 1)));
      await dialog.type(t.enforceType('old'), 'old');
      await dialog.submit();
      assert.deepEqual([dialog.buttons[0], done], ['(Go)', 0]);
      await dialog.act(() => give(Response.json({ matched: 5, query: 'type=Car', sample: [] })));
      assert.ok(dialog.text.includes(t.enforceNow(5, 'entities', false)));
      for (const typed of ['', 'ol', 'OLD']) {
        await dialog.type(t.enforceType('old'), typed);
        await dialog.submit();
        assert.deepEqual([dialog.buttons[0], done], ['(Go)', 0], typed);
      }
      await dialog.type(t.enforceType('old'), ' old ');
      await dialog.press('Go');
      assert.equal(done, 1);
    });

    it('a policy without a preview does not delete', async () => {
      page.answer = () => problem(502, { title: 'Gone' });
      let done = 0;
      const dialog = await page.open(dialogOf(async () => (done += 1)));
      await dialog.type(t.enforceType('old'), 'old');
      await dialog.submit();
      assert.deepEqual([dialog.text.includes('Gone'), done], [true, 0]);
    });
  });
});
