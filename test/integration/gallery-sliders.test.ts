import t from 'tap'
import { sliders } from '#test/fixtures/gallery/sliders.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, sliders)
