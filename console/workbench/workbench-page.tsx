import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Copyable } from '../parts/copyable.js';
import { Page } from '../parts/page.js';
import { Failure } from '../parts/states.js';
import { Tabs } from '../parts/tabs.js';
import { keepInAddress, routeTo } from '../shared/router.js';
import { useWork } from '../shared/use-work.js';
import { text } from '../strings.js';
import { benchAsLeft, putOnBench, type Bench } from './bench.js';
import { JsonLdPanel } from './jsonld-panel.js';
import { MAX_SHARED, packed, unpacked } from './share.js';
import { ValidatePanel } from './validate-panel.js';
import { exampleOf } from './workbench-api.js';

const PARTS = ['validate', 'jsonld'] as const;
type Part = (typeof PARTS)[number];

/** Tools for entities that are not stored. */
export function WorkbenchPage({
  part = 'validate',
  shared,
}: {
  readonly part?: string | undefined;
  readonly shared: string | null;
}) {
  const t = text.workbench;
  const chosen: Part = part === 'jsonld' ? part : 'validate';
  const [bench, setBench] = useState(benchAsLeft);
  const [isBadLink, setIsBadLink] = useState(false);
  const { error, run } = useWork();
  putOnBench(bench);
  useEffect(() => {
    if (shared === null) return;
    let isOver = false;
    void unpacked(shared).then((found) => {
      if (isOver) return;
      setIsBadLink(found === undefined);
      if (found !== undefined) setBench(found);
    });
    return () => {
      isOver = true;
    };
  }, [shared]);
  const change = (one: Partial<Bench>) => {
    setBench((last) => ({ ...last, ...one }));
    // From here on, the address would no longer match the page.
    if (shared !== null) keepInAddress(toPart(chosen));
  };
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          <Button
            class="small button"
            onClick={() => run(async () => change({ text: await exampleOf(bench.model) }))}
            label={t.example}
          />
          <Button
            class="small"
            onClick={() => change({ text: '' })}
            disabled={bench.text === ''}
            label={t.clear}
          />
        </>
      }
    >
      {isBadLink && (
        <p class="notice bad" role="alert">
          {t.badLink}
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
      <Tabs
        label={t.partsOf}
        tabs={PARTS.map((one) => ({ href: toPart(one), name: t.parts[one], isShown: one === chosen }))}
      />
      <section class="bench">
        {chosen === 'validate' ? (
          <ValidatePanel bench={bench} onChange={change} />
        ) : (
          <JsonLdPanel bench={bench} onChange={change} />
        )}
        <ShareCard bench={bench} path={toPart(chosen)} />
      </section>
    </Page>
  );
}

/** Creates a link that contains the state of the workbench. @param path the fragment of the page */
function ShareCard({ bench, path }: { readonly bench: Bench; readonly path: string }) {
  const t = text.workbench;
  const [made, setMade] = useState<{ readonly of: Bench; readonly link: string }>();
  // A link to an earlier state would be mistaken for one to the current state.
  const shared = made?.of === bench ? made.link : undefined;
  const share = () => void packed(bench).then((link) => setMade({ of: bench, link }));
  return (
    <div class="card">
      <Button disabled={bench.text === ''} onClick={share} label={t.share} />{' '}
      <span class="hint">{t.shareHint}</span>
      {shared !== undefined && shared.length > MAX_SHARED && (
        <p class="notice warn" role="alert">
          {t.tooLong(shared.length, MAX_SHARED)}
        </p>
      )}
      {shared !== undefined && shared.length <= MAX_SHARED && (
        <Copyable label={t.link} value={`${location.href.replace(/#.*$/s, '')}${path}?shared=${shared}`} />
      )}
    </div>
  );
}

function toPart(part: Part): string {
  return routeTo(['workbench', ...(part === 'validate' ? [] : [part])]);
}
