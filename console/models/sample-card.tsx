import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { api } from '../api/client.js';
import { Card } from '../parts/card.js';
import { isResourceName } from '../../sidecar/shared/resource-name.js';
import { Choice, Tick } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { useDraft } from '../shared/drafts.js';
import { useWork } from '../shared/hooks.js';
import { text } from '../strings.js';
import { faultsOf, jsonFault } from '../editor/faults.js';
import { guessForm, nameFor, plainSample, samplesOf, type SampleForm } from './samples.js';
import { JsonEditor } from '../editor/json-editor.js';

/** The name of the draft of the samples. */
export const SAMPLE_DRAFT = 'samples';

/** The result of inferring a schema from samples. */
export interface Inferred {
  readonly schema: unknown;
  /** The first sample in the form that the schema describes, if possible. */
  readonly example: Readonly<Record<string, unknown>> | undefined;
  readonly name: string | undefined;
}

/** A field in which one or more entities are pasted, to infer a schema from them. */
export function SampleCard({
  onInferred,
  name,
}: {
  readonly onInferred: (inferred: Inferred) => void;
  /** The name of the model, if it has one already. */
  readonly name: string;
}) {
  const t = text.models.samples;
  const draft = useDraft(SAMPLE_DRAFT, () => ({ sample: '' }));
  const { sample } = draft.form;
  const [form, setForm] = useState<SampleForm | ''>('');
  const [isEnum, setIsEnum] = useState(false);
  const [isExample, setIsExample] = useState(true);
  const [said, setSaid] = useState('');
  const { isBusy, error, run, clear } = useWork();
  const guessed = formOf(sample);
  const fault = sample.trim() === '' ? undefined : jsonFault(sample);

  const infer = async () => {
    setSaid('');
    const samples = samplesOf(sample) ?? [];
    const used = form === '' ? guessForm(samples) : form;
    const model = isResourceName(name) ? name : nameFor(samples);
    const query = {
      form: used,
      ...(isEnum ? { enum: true } : {}),
      ...(model === undefined ? {} : { model }),
    };
    const schema = await api.json('post', '/workbench/schema/infer', {
      query,
      body: sample,
      isReadOnly: true,
    });
    const [first] = samples;
    const example = isExample && first !== undefined ? plainSample(first, used) : undefined;
    setSaid(isExample && example === undefined ? t.doneWithout : t.done);
    onInferred({ schema, example, name: nameFor(samples) });
  };
  return (
    <Card id="sample" title={t.title}>
      <p class="quiet">{t.lead}</p>
      <JsonEditor
        label={t.label}
        value={sample}
        onInput={(value) => {
          draft.change({ sample: value });
          setSaid('');
          clear();
        }}
        faults={faultsOf(error, '', 0)}
        isSchema={false}
        height="short"
      />
      <div class="grid section">
        <Choice
          label={t.form}
          value={form}
          choices={[
            ['', guessed === undefined ? t.guess : t.guessed(t.forms[guessed])],
            ...FORMS.map((one) => [one, t.forms[one]] as const),
          ]}
          onInput={setForm}
        />
        <div>
          <Tick label={t.example} value={isExample} onInput={setIsExample} />
          <Tick label={t.enumerate} value={isEnum} onInput={setIsEnum} />
        </div>
      </div>
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <Button
          disabled={isBusy || sample.trim() === '' || fault !== undefined}
          onClick={() => run(infer)}
          label={t.go}
        />
        <p class="hint" role="status">
          {fault === undefined ? said : text.models.notJson(fault)}
        </p>
      </div>
    </Card>
  );
}

const FORMS = ['keyvalues', 'ngsi-ld', 'ngsiv2', 'geojson'] as const;

function formOf(sample: string): SampleForm | undefined {
  try {
    const samples = samplesOf(sample);
    return samples === undefined ? undefined : guessForm(samples);
  } catch {
    return undefined;
  }
}
