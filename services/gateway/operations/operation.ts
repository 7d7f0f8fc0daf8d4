import type { Context } from '#gateway/context.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'

/** Serves one kind of request. Throws an AppError where it refuses. */
export type Operation = (context: Context, exchange: Exchange) => Promise<Answer>
