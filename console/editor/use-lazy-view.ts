import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * Loads a view when it is first needed, and shows it in the element with the returned ref.
 *
 * @param show adds the view; the Content Security Policy of the page only allows its styles in a shadow root
 * @param parts what the view is made of: it is shown again when they change
 * @returns the view once it is shown, or why that failed
 */
export function useLazyView<Module, View extends { remove(): void }>(
  load: () => Promise<Module>,
  show: (module: Module, root: ShadowRoot) => View,
  parts: readonly unknown[],
) {
  const host = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<{ readonly view?: View; readonly error?: unknown }>({});
  useEffect(() => {
    let view: View | undefined;
    let isLeft = false;
    load()
      .then((module) => {
        if (isLeft || host.current === null) return;
        view = show(module, host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' }));
        setState({ view });
      })
      .catch((error: unknown) => isLeft || setState({ error }));
    return () => {
      isLeft = true;
      view?.remove();
    };
  }, parts);
  return { host, ...state };
}
