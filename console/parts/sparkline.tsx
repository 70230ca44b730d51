const WIDTH = 200;
const HEIGHT = 32;

/** A few numbers as bars. @param label says the same in words, for screen readers */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const most = Math.max(1, ...values);
  const step = WIDTH / values.length;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((value, index) => {
        const height = Math.max(1, (value / most) * HEIGHT);
        return (
          <rect
            key={index}
            x={index * step + 1}
            y={HEIGHT - height}
            width={Math.max(1, step - 2)}
            height={height}
          />
        );
      })}
    </svg>
  );
}
