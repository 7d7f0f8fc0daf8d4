/** A status as a word with a mark. Colour is never its only sign. */
export const StatusBadge = ({ tone, label }: { tone: 'good' | 'bad' | 'busy' | 'quiet'; label: string }) => (
  <span class={`badge ${tone}`}>{label}</span>
)
