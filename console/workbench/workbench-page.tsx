import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../parts/states.js';
import { keepInAddress, routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { benchAsLeft, putOnBench, type Bench } from './bench.js';
import { JsonLdPanel } from './jsonld-panel.js';
import { ShareCard } from './share-card.js';
import { unpacked } from './share.js';
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
  /** Why the example could not be loaded. */
  const [failure, setFailure] = useState<unknown>();
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
    <div class="page">
      <div class="heading">
        <h1>{t.title}</h1>
        <button
          type="button"
          class="small button"
          onClick={() =>
            void exampleOf(bench.model).then((entity) => {
              setFailure(undefined);
              change({ text: entity });
            }, setFailure)
          }
        >
          {t.example}
        </button>
        <button type="button" class="small" onClick={() => change({ text: '' })} disabled={bench.text === ''}>
          {t.clear}
        </button>
      </div>
      <p class="lead">{t.lead}</p>
      {isBadLink && (
        <p class="notice bad" role="alert">
          {t.badLink}
        </p>
      )}
      {failure !== undefined && <Failure error={failure} />}
      <nav class="tabs" aria-label={t.partsOf}>
        <ul>
          {PARTS.map((one) => (
            <li key={one}>
              <a href={toPart(one)} {...(one === chosen ? { 'aria-current': 'page' as const } : {})}>
                {t.parts[one]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <section class="bench">
        {chosen === 'validate' ? (
          <ValidatePanel bench={bench} onChange={change} />
        ) : (
          <JsonLdPanel bench={bench} onChange={change} />
        )}
        <ShareCard bench={bench} path={toPart(chosen)} />
      </section>
    </div>
  );
}

function toPart(part: Part): string {
  return routeTo(['workbench', ...(part === 'validate' ? [] : [part])]);
}
