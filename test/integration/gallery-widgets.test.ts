import t from 'tap'
import { widgets } from '#test/fixtures/gallery/widgets.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, widgets)
