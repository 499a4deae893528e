# Debian packages, made by `cpack -G DEB` (scripts/package.sh): the program with the module of the
# common formats, and one package for each other codec module, whose libraries are then installed
# only where they are wanted. `cmake --install` does not see what is packages' own.
find_program(IMPIPE_GZIP gzip)
if(NOT IMPIPE_GZIP)
  return()
endif()
set(IMPIPE_MAINTAINER "impipe maintainers <maintainers@impipe.invalid>" CACHE STRING
    "Who answers for the packages: NAME <MAIL>")
set(IMPIPE_PACKAGE_RELEASE 1 CACHE STRING "What stands behind the version's hyphen")

# Debian has the man page and the changes compressed, and its own list of changes beside them.
set(package_version ${PROJECT_VERSION}-${IMPIPE_PACKAGE_RELEASE})
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in ${made_dir}/changelog.Debian @ONLY)
set(packed_files "")
function(impipe_packed_file file made)
  add_custom_command(OUTPUT ${made_dir}/${made}.gz
    COMMAND ${IMPIPE_GZIP} -9nc ${file} > ${made_dir}/${made}.gz DEPENDS ${file} VERBATIM)
  set(packed_files ${packed_files} ${made_dir}/${made}.gz PARENT_SCOPE)
endfunction()
impipe_packed_file(${made_dir}/impipe.1 impipe.1)
impipe_packed_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md changelog)
impipe_packed_file(${made_dir}/changelog.Debian changelog.Debian)
add_custom_target(impipe_packed ALL DEPENDS ${packed_files})
add_dependencies(impipe_packed impipe_share)

function(impipe_package_files package component)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright ${made_dir}/changelog.Debian.gz
                ${made_dir}/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
impipe_package_files(impipe impipe)
install(FILES ${made_dir}/impipe.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT impipe EXCLUDE_FROM_ALL)
install(FILES ${made_dir}/_impipe DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
        COMPONENT impipe EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME impipe)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else it would stand before each package's own
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${IMPIPE_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${IMPIPE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# The library (its control files: cmake/debian/control), its headers, and the Python package.
set(CPACK_COMPONENTS_ALL impipe libimpipe libimpipe-dev python3-impipe)
impipe_package_files(libimpipe0 libimpipe)
impipe_package_files(libimpipe-dev libimpipe-dev)
impipe_package_files(python3-impipe python3-impipe)
set(CPACK_DEBIAN_LIBIMPIPE_PACKAGE_NAME libimpipe0)
set(CPACK_DEBIAN_LIBIMPIPE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBIMPIPE_DESCRIPTION
"pipelines of MATLAB-style image operators in process
The library runs pipelines such as 'imadjust | conv2 k7 | edge prewitt' on
images in memory, with the results of the program impipe: on the CPU, and,
where their drivers are there, on NVIDIA GPUs with CUDA and on what speaks
OpenCL. It opens no files but those that a pipeline names.")
set(CPACK_DEBIAN_LIBIMPIPE-DEV_PACKAGE_NAME libimpipe-dev)
set(CPACK_DEBIAN_LIBIMPIPE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBIMPIPE-DEV_PACKAGE_DEPENDS "libimpipe0 (= ${package_version})")
set(CPACK_DEBIAN_LIBIMPIPE-DEV_DESCRIPTION
"pipelines of MATLAB-style image operators (development files)
The header of the C interface of libimpipe, which says what its functions do,
and what pkg-config and CMake find it by.")
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_NAME python3-impipe)
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_DEPENDS
    "python3 (>= 3.11), python3-numpy, libimpipe0 (= ${package_version})")
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_RECOMMENDS impipe)
set(CPACK_DEBIAN_PYTHON3-IMPIPE_PACKAGE_SUGGESTS python3-tqdm)
set(CPACK_DEBIAN_PYTHON3-IMPIPE_DESCRIPTION
"pipelines of MATLAB-style image operators on NumPy arrays
impipe.run('imadjust | conv2 k7 | edge prewitt', photograph) has an array in
and one out; measurements are dicts, tables are dicts of arrays. Arrays of
CuPy and PyTorch stay on their card.")

# The loader of OpenCL is small and free; NVIDIA's libraries are opened where they are there, under
# whatever package brought them.
set(CPACK_DEBIAN_IMPIPE_PACKAGE_NAME impipe)
set(CPACK_DEBIAN_IMPIPE_DESCRIPTION
"pipelines of MATLAB-style image operators over folders
A pipeline such as 'imadjust | conv2 k7 | edge prewitt' is compiled, so that
neighbouring operators are one pass over the image, and run over files and
whole folders: on the CPU, and, where their drivers are there, on NVIDIA GPUs
with CUDA and on what speaks OpenCL.

It reads and writes PNG, JPEG, TIFF, WebP, BMP, PNM, PFM, NPY, QOI, TGA and
Radiance HDR; other formats are packages of their own.")
set(recommended "ocl-icd-libopencl1 | libopencl1")
set(CPACK_DEBIAN_IMPIPE_PACKAGE_SUGGESTS
    "pocl-opencl-icd | opencl-icd, libcuda1, libnvrtc11.2, impipe-codec-opencv")

set(does_exr "reads and writes OpenEXR")
set(does_jxl "reads and writes JPEG XL")
set(does_gif "reads GIF")
set(does_jp2 "reads and writes JPEG 2000")
set(does_avif "reads and writes AVIF")
set(does_heif "reads and writes HEIF")
set(does_raw "reads camera raw")
set(does_fits "reads FITS")
set(does_dicom "reads DICOM")
set(does_openslide "reads whole-slide images by OpenSlide")
set(does_zarr "reads and writes OME-Zarr")
set(does_icc "converts colours by ICC profiles")
set(does_ocio "converts colours by OpenColorIO")
set(does_opencv "reads Sun raster, and other formats by OpenCV")
set(broken "")
get_property(codec_modules GLOBAL PROPERTY IMPIPE_SEPARATE_MODULES)
foreach(component IN LISTS codec_modules)
  string(REPLACE _ - package ${component})
  string(REGEX REPLACE "^.*_" "" name ${component})
  string(TOUPPER ${component} upper)
  impipe_package_files(${package} ${component})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "impipe (= ${package_version})")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION
"module with which impipe ${does_${name}}
Put beside the program, it is opened when it is first needed, and costs
nothing until then.")
  # OpenCV brings GDAL and 100 other libraries: suggested above.
  if(NOT name STREQUAL opencv)
    string(APPEND recommended ", ${package}")
  endif()
  # dpkg by itself looks at what a package breaks, not at who depends on its older version.
  list(APPEND broken "${package} (<< ${package_version})")
endforeach()
list(JOIN broken ", " CPACK_DEBIAN_IMPIPE_PACKAGE_BREAKS)
set(CPACK_DEBIAN_IMPIPE_PACKAGE_RECOMMENDS ${recommended})
include(CPack)
