import { advanced } from './parameters/advanced.ts'
import { blocking } from './parameters/blocking.ts'
import { emulation } from './parameters/emulation.ts'
import { injection } from './parameters/injection.ts'
import { interaction } from './parameters/interaction.ts'
import { loading } from './parameters/loading.ts'
import { output } from './parameters/output.ts'
import { pdf } from './parameters/pdf.ts'
import { source } from './parameters/source.ts'
import { viewport } from './parameters/viewport.ts'

/** Every parameter by the groups of the contract, with bounds, default and description. Sources have no default. */
export const parameterGroups = {
  source,
  viewport,
  output,
  pdf,
  loading,
  interaction,
  injection,
  blocking,
  emulation,
  advanced,
}
