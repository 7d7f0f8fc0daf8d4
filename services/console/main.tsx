import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { Router } from 'wouter-preact'
import { servedPath } from './api/base-path.ts'
import { createQueryClient } from './api/query-client.ts'
import { App } from './app.tsx'
import { applyTheme, storedTheme } from './shell/theme.ts'

applyTheme(storedTheme())
const root = document.querySelector('#console')
if (root)
  render(
    <QueryClientProvider client={createQueryClient()}>
      <Router base={servedPath('/console')}>
        <App />
      </Router>
    </QueryClientProvider>,
    root,
  )
