import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Page, Tabs } from '../parts/page.js';
import { Failure } from '../parts/states.js';
import { routeTo } from '../shared/router.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { savedWorkbench, saveWorkbench, type Workbench } from './state.js';
import { JsonLdPanel } from './jsonld-panel.js';
import { ValidatePanel } from './validate-panel.js';
import { exampleOf } from './workbench-api.js';

const PARTS = ['validate', 'jsonld'] as const;
type Part = (typeof PARTS)[number];

/** Tools for entities that are not stored. */
export function WorkbenchPage({ part = 'validate' }: { readonly part?: string | undefined }) {
  const t = text.workbench;
  const chosen: Part = part === 'jsonld' ? part : 'validate';
  const [workbench, setWorkbench] = useState(savedWorkbench);
  const { isBusy, error, run } = useAction();
  saveWorkbench(workbench);
  const change = (one: Partial<Workbench>) => setWorkbench((last) => ({ ...last, ...one }));
  return (
    <Page
      title={text.pages.workbench}
      lead={t.lead}
      actions={
        <>
          <Button
            class="small button"
            aria-disabled={isBusy}
            onClick={() => run(async () => change({ text: await exampleOf(workbench.model) }))}
            label={t.example}
          />
          <Button
            class="small"
            onClick={() => change({ text: '' })}
            disabled={workbench.text === ''}
            label={t.clear}
          />
        </>
      }
    >
      {error !== undefined && <Failure error={error} />}
      <Tabs
        label={t.partsOf}
        tabs={PARTS.map((one) => ({ href: toPart(one), name: t.parts[one], isShown: one === chosen }))}
      />
      <section class="bench">
        {chosen === 'validate' ? (
          <ValidatePanel workbench={workbench} onChange={change} />
        ) : (
          <JsonLdPanel workbench={workbench} onChange={change} />
        )}
      </section>
    </Page>
  );
}

function toPart(part: Part): string {
  return routeTo(['workbench', ...(part === 'validate' ? [] : [part])]);
}
