/** Numbers with their labels, side by side. */
export const Figures = ({ figures }: { figures: readonly (readonly [label: string, value: string])[] }) => (
  <dl class="figures">
    {figures.map(([label, value]) => (
      <div key={label} class="card">
        <dt>{label}</dt>
        <dd class="figure">{value}</dd>
      </div>
    ))}
  </dl>
)
