// The plan of the account, and the remaining quota: node account.mts
import { Shutterfleet } from '@shutterfleet/client'

// Prints an error without its stack.
process.on('uncaughtException', (error) => {
  console.error(String(error))
  process.exitCode = 1
})

const { BASE: baseUrl = 'http://127.0.0.1:8080', KEY: apiKey = '' } = process.env

const shots = new Shutterfleet({ baseUrl, apiKey })
const { name, plan } = await shots.account()
const { screenshots_used, screenshots_limit } = await shots.usage()
console.log(`${name}: plan ${plan.slug}, ${screenshots_used} of ${screenshots_limit ?? 'unlimited'} captures used`)
