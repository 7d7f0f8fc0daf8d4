import t from 'tap'
import { charts } from '#test/fixtures/gallery/charts.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, charts)
