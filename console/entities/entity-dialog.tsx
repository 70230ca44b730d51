import type { Schemas } from '../api/client.js';
import { Dialog } from '../parts/dialog.js';
import { Failure, Pending } from '../parts/states.js';
import { Where } from '../parts/where.js';
import { routeTo } from '../shared/router.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { EMPTY_BENCH, putOnBench } from '../workbench/bench.js';
import { attributesOf, typesOf, type ShownAttribute } from './attributes-of.js';
import { judge, readEntity, type EntityPlace } from './entity-api.js';

/** An entity as the broker has it now, with its attributes collapsed and the verdict of its model. */
export function EntityDialog({
  id,
  place,
  onClose,
}: {
  readonly id: string;
  readonly place: EntityPlace;
  readonly onClose: () => void;
}) {
  const t = text.entity;
  const isHistory = place.target === 'temporal';
  const { value, error, reload } = useLoad(JSON.stringify([id, place]), (signal) =>
    readEntity(id, place, signal),
  );
  const openInWorkbench = (entityText: string) => {
    putOnBench({ ...EMPTY_BENCH, text: entityText });
    location.hash = routeTo(['workbench']);
  };
  return (
    <Dialog title={id} onClose={onClose} isWide>
      <Where tenant={place.tenant?.trim() ?? ''} />
      <Pending {...{ value, error, reload }} />
      {value !== undefined && isHistory && (
        <>
          <p class="hint">{t.newest}</p>
          <Attributes entityText={value} errors={[]} />
        </>
      )}
      {value !== undefined && !isHistory && <Judged entityText={value} />}
      <div class="actions">
        {value !== undefined && !isHistory && (
          <button type="button" onClick={() => openInWorkbench(value)}>
            {text.quality.open}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {t.close}
        </button>
      </div>
    </Dialog>
  );
}

function Judged({ entityText }: { readonly entityText: string }) {
  const t = text.entity;
  const { value, error, isLoading } = useLoad(entityText, async (signal) => ({
    verdict: await judge(entityText, signal),
  }));
  const verdict = value?.verdict;
  return (
    <>
      <p aria-live="polite">
        {typesOf(entityText).map((type) => (
          <span class="chip" key={type}>
            {type}
          </span>
        ))}{' '}
        {isLoading && <span class="quiet">{t.judging}</span>}
        {value !== undefined && verdict === undefined && <span class="quiet">{t.noModel}</span>}
        {verdict !== undefined && (
          <>
            <span class={verdict.valid ? 'chip good' : 'chip bad'}>
              {verdict.valid ? text.workbench.valid : text.workbench.notValid}
            </span>{' '}
            {text.workbench.against}{' '}
            {verdict.models?.map((model) => (
              <a key={model} href={routeTo(['models', ...model.split('/')])}>
                {model}
              </a>
            ))}
          </>
        )}
      </p>
      {error !== undefined && <Failure error={error} title={t.judgeFailed} />}
      <Attributes entityText={entityText} errors={verdict?.errors ?? []} />
    </>
  );
}

/** The attributes, each collapsed to one line, with what is wrong with it. */
function Attributes({
  entityText,
  errors,
}: {
  readonly entityText: string;
  readonly errors: readonly Schemas['EntityError'][];
}) {
  const attributes = attributesOf(entityText);
  const names = new Set(attributes.map(({ name }) => name));
  const nameIn = ({ pointer }: Schemas['EntityError']) =>
    pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~') ?? '';
  return (
    <>
      <Errors errors={errors.filter((error) => !names.has(nameIn(error)))} />
      {attributes.length === 0 && <p class="quiet">{text.entity.none}</p>}
      <div class="attributes">
        {attributes.map((attribute) => (
          <Attribute
            key={attribute.name}
            attribute={attribute}
            errors={errors.filter((error) => nameIn(error) === attribute.name)}
          />
        ))}
      </div>
    </>
  );
}

function Attribute({
  attribute: { name, kind, short, json },
  errors,
}: {
  readonly attribute: ShownAttribute;
  readonly errors: readonly Schemas['EntityError'][];
}) {
  const value = typeof short === 'string' ? short : text.entity.instances(short.instances);
  return (
    <div>
      <details>
        <summary>
          <strong>{name}</strong> <code>{value}</code> <span class="quiet">{kind}</span>
        </summary>
        <pre tabIndex={0} aria-label={name}>
          {json}
        </pre>
      </details>
      <Errors errors={errors} />
    </div>
  );
}

function Errors({ errors }: { readonly errors: readonly Schemas['EntityError'][] }) {
  return errors.length === 0 ? null : (
    <ul class="faults">
      {errors.map(({ pointer, detail }) => (
        <li key={`${pointer} ${detail}`}>{detail}</li>
      ))}
    </ul>
  );
}
