import { useState } from 'preact/hooks';
import { Button, Download } from '../parts/button.js';
import { Card } from '../parts/card.js';
import { ForRole } from '../parts/for-role.js';
import { Failure, Pending } from '../parts/states.js';
import { ConfirmButton } from '../parts/dialog.js';
import { type Loaded, useLoad } from '../shared/hooks.js';
import { text } from '../strings.js';
import { openInWorkbench } from '../workbench/state.js';
import { JsonText, shownJson } from '../parts/json-text.js';
import {
  addressIn,
  isStrictExample,
  type Model,
  readExample,
  removeExample,
  type StoredExample,
  validate,
} from './models-api.js';
import { toImport } from './routes.js';
import { ValidChip, VerdictView } from '../workbench/verdicts.js';

/** Number of examples validated and shown at first. */
const AT_FIRST = 20;

/** The examples that are kept with a model, and whether its current version accepts each. */
export function StoredExamples({
  model,
  stored: { value, error, reload },
}: {
  readonly model: Model;
  readonly stored: Loaded<readonly StoredExample[]>;
}) {
  const t = text.models.stored;
  const [shown, setShown] = useState(AT_FIRST);
  return (
    <Card id="stored" title={t.title}>
      <p class="quiet">{t.lead}</p>
      <Pending {...{ value, error, reload }} />
      {value?.length === 0 && (
        <p class="quiet">
          {t.none} <a href={toImport()}>{text.labels.import}</a>
        </p>
      )}
      <ul class="examples stored">
        {(value ?? []).slice(0, shown).map((example) => (
          <ExampleItem
            key={`${example.name} ${example.sha256}`}
            model={model}
            example={example}
            onRemoved={reload}
          />
        ))}
      </ul>
      {value !== undefined && value.length > shown && (
        <Button onClick={() => setShown(value.length)} label={text.models.showMore(value.length - shown)} />
      )}
    </Card>
  );
}

function ExampleItem({
  model,
  example,
  onRemoved,
}: {
  readonly model: Model;
  readonly example: StoredExample;
  /** Called also if the example was changed elsewhere. */
  readonly onRemoved: () => void;
}) {
  const t = text.models.stored;
  const { name, form, size } = example;
  const { value, error, reload } = useLoad(`${name} ${model.version}`, (signal) =>
    validated(model, example, signal),
  );
  const isValid = value?.verdicts.every(({ valid }) => valid);
  return (
    <li>
      <details>
        <summary>
          <code>{name}</code> <span class="quiet">{t.what(size, form && text.workbench.forms[form])}</span>{' '}
          {isValid !== undefined && <ValidChip isValid={isValid} />}
        </summary>
        {value !== undefined && (
          <div class="columns">
            <JsonText label={name} value={value.example} />
            <div>
              {value.verdicts.map((verdict, index) => (
                <VerdictView key={index} verdict={verdict} />
              ))}
              {value.failure !== undefined && <Failure error={value.failure} onRetry={reload} />}
            </div>
          </div>
        )}
        {error !== undefined && <Failure error={error} onRetry={reload} />}
        <div class="actions">
          <Button
            class="small"
            disabled={value === undefined}
            onClick={() => {
              openInWorkbench({
                text: shownJson(value?.example),
                model: `${model.domain}/${model.name}`,
                isStrict: isStrictExample(name),
              });
            }}
            label={t.open}
          />
          <Download href={addressIn(model, ['examples', name])} name={name} />
          <ForRole roles={['modeller']}>
            <ConfirmButton
              label={text.labels.remove}
              class="small"
              title={t.removeTitle(name)}
              message={t.removeWhat}
              confirm={t.removeGo}
              onConflict={onRemoved}
              onConfirm={async () => {
                await removeExample(model, example);
                onRemoved();
              }}
            />
          </ForRole>
        </div>
      </details>
    </li>
  );
}

/**
 * Reads an example and validates it against the current version of the model, or says why that fails, e.g. because it is not an
 * entity.
 */
async function validated(model: Model, { name }: StoredExample, signal: AbortSignal) {
  const example = await readExample(model, name, signal);
  try {
    const found = await validate(model, JSON.stringify(example), signal, isStrictExample(name));
    return { example, verdicts: [found].flat().slice(0, MAX_VERDICTS), failure: undefined };
  } catch (failure) {
    signal.throwIfAborted();
    return { example, verdicts: [], failure };
  }
}

/** Maximum number of verdicts shown for an example that is a list. */
const MAX_VERDICTS = 10;
