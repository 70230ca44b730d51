import { Download } from '../parts/download.js';
import { JsonText } from '../parts/json-text.js';
import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { addressIn, readFile, type Model } from './models-api.js';

/** A file that the gateway generates from a model, as text and to download. */
export function ModelFile({
  model,
  file,
  title = file,
  failed,
  isWhole,
}: {
  readonly model: Model;
  readonly file: string;
  readonly title?: string;
  /** Title of the error if there is no such file. */
  readonly failed?: string;
  readonly isWhole?: boolean;
}) {
  const address = addressIn(model, ['files', file]);
  const { value, error, reload } = useLoad(address, (signal) => readFile(model, file, signal));
  return (
    <div class="file">
      <div class="bar">
        <h3>{title}</h3>
        <Download href={address} name={`${model.name}.${file}`} />
      </div>
      <Pending {...{ value, error, reload }} title={failed} />
      {value !== undefined && <JsonText label={title} value={value} isWhole={isWhole} />}
    </div>
  );
}
