import { h, type FunctionComponent } from 'preact';
import { useLoad } from '../shared/use-load.js';
import { Pending } from './states.js';

/** A part of the console that is loaded when it is first shown, so that the first page does not have to wait for all others. */
export function later<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  return function Later(props: Props) {
    const { error, reload } = useLoad('', async () => {
      loaded ??= await load();
    });
    if (loaded !== undefined) return h(loaded, props);
    return (
      <div class="page">
        <Pending {...{ error, reload }} />
      </div>
    );
  };
}
